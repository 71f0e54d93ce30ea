//! `GET /v1/memory`: what all connections together hold, of what they may.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use crate::tuning::{MemoryReport, pressure};

/// Memory of connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Bytes that all connections may hold in the kernel.
    pub budget_bytes: u64,
    /// Bytes of windows promised to clients.
    pub promised_bytes: u64,
    /// Bytes held when it was last looked at.
    pub used: MemoryReport,
    /// `none`, `stop-growing`, `take-back` or `refuse`.
    pub pressure: String,
    /// Connections that were turned away because memory was short.
    pub refused_connections: u64,
    /// Connections that are not read now, because memory is short.
    pub held_connections: u64,
    /// How often one came to be one of those.
    pub times_held: u64,
}

/// Answers with the memory as it is now.
pub async fn memory(State(asked): State<Arc<Asked>>) -> Json<Memory> {
    let shared = &asked.shared;
    let held = shared.connections().iter().filter(|connection| connection.is_held()).count();
    let tuner = shared.tuner.lock();
    let used = tuner.used();
    Json(Memory {
        budget_bytes: tuner.settings().budget.total(),
        promised_bytes: tuner.promised(),
        used: MemoryReport { sending: used.sending, unread: used.unread, host_tcp: used.host_tcp },
        pressure: pressure(tuner.pressure()).to_owned(),
        refused_connections: shared.pressing.refused(),
        held_connections: held as u64,
        times_held: shared.pressing.held(),
    })
}
