//! `GET /v1`: what there is.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::questions::json_questions;
use super::routes::Asked;

/// Grows with what older callers would misunderstand; what is only added leaves it alone.
const VERSION: u32 = 1;

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    /// The version of this interface.
    pub version: u32,
    /// The version of the server.
    pub howdah: String,
    /// The server's process.
    pub process: u32,
    /// Where it listens for TCP.
    pub listening: Vec<SocketAddr>,
    /// What may be asked.
    pub paths: Vec<Offered>,
}

/// A question that may be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// `GET` or `PUT`.
    pub method: String,
    /// The path; `{name}` stands for a name.
    pub path: String,
    /// What it is about.
    pub about: String,
}

/// Tells what may be asked.
pub async fn index(State(asked): State<Arc<Asked>>) -> Json<Index> {
    let listeners = asked.shared.service.listeners.read();
    let listening = listeners.iter().filter(|(transport, _)| !transport.is_datagrams());
    Json(Index {
        version: VERSION,
        howdah: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        listening: listening.map(|(_, address)| *address).collect(),
        paths: json_questions().map(|(method, path, about)| offered(method, path, about)).collect(),
    })
}

fn offered(method: &str, path: &str, about: &str) -> Offered {
    Offered { method: method.to_owned(), path: path.to_owned(), about: about.to_owned() }
}
