//! `GET /v1`: what there is.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::question::{Answer, Question, Questions};

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

/// Answers with what may be asked.
pub async fn index(
    State(asked): State<Arc<Asked>>,
    Extension(Questions(all)): Extension<Questions>,
) -> Json<Index> {
    let listeners = asked.shared.service.listeners.read();
    let listening = listeners.iter().filter(|(transport, _)| !transport.is_datagrams());
    let answered_with_json = all.iter().filter(|question| matches!(question.answer, Answer::Json(_)));
    Json(Index {
        version: VERSION,
        howdah: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        listening: listening.map(|(_, address)| *address).collect(),
        paths: answered_with_json.map(offered).collect(),
    })
}

fn offered(question: &Question) -> Offered {
    Offered {
        method: question.method.to_owned(),
        path: question.path.to_owned(),
        about: question.about.to_owned(),
    }
}
