//! `GET /v1/heads`: all heads of the cluster.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::asked::Asked;
use super::head_watch::ClusterHeads;

/// Answers with all of them.
pub async fn heads(State(asked): State<Arc<Asked>>) -> Json<ClusterHeads> {
    let states = asked.shared.service.states.as_ref().filter(|states| states.cluster().is_some());
    Json(match states {
        Some(states) => asked.heads.look(states).await,
        None => ClusterHeads { heads: Vec::new(), is_current: true },
    })
}
