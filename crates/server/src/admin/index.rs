//! `GET /v1`: what there is.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::routes::{Asked, PATHS};
use crate::Transport;

/// Grows with what older callers would misunderstand; what is only added leaves it alone.
const VERSION: u32 = 1;

/// What there is.
#[derive(Debug, Serialize)]
pub struct Index {
    /// The version of this interface.
    version: u32,
    /// The version of the server.
    howdah: &'static str,
    /// The server's process.
    process: u32,
    /// Where it listens for TCP.
    listening: Vec<SocketAddr>,
    /// What may be asked.
    paths: Vec<Described>,
}

/// A path.
#[derive(Debug, Serialize)]
struct Described {
    method: &'static str,
    path: &'static str,
    about: &'static str,
}

/// Tells what may be asked.
pub async fn index(State(asked): State<Arc<Asked>>) -> Json<Index> {
    let listeners = asked.shared.service.listeners.read();
    let listening = listeners.iter().filter(|(transport, _)| *transport == Transport::Tcp);
    let described = |&(method, path, about)| Described { method, path, about };
    Json(Index {
        version: VERSION,
        howdah: env!("CARGO_PKG_VERSION"),
        process: std::process::id(),
        listening: listening.map(|(_, address)| *address).collect(),
        paths: PATHS.iter().map(described).collect(),
    })
}
