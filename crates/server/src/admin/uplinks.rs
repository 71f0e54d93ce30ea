//! `GET /v1/uplinks`: the far side of exports of other servers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use crate::exports::Exports;
use crate::uplink::UplinkReport;

/// The far side of all exports that have one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Uplinks {
    /// In the order of the exports.
    pub uplinks: Vec<ExportUplink>,
}

/// The far side of one export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportUplink {
    /// What clients mount.
    pub export: String,
    /// The way to the far server.
    #[serde(flatten)]
    pub uplink: UplinkReport,
}

/// Answers with the uplinks as they are now.
pub async fn uplinks(State(asked): State<Arc<Asked>>) -> Json<Uplinks> {
    Json(Uplinks { uplinks: of(&asked.shared.service.exports()) })
}

/// That of these exports.
pub fn of(exports: &Exports) -> Vec<ExportUplink> {
    let known = exports.iter().filter_map(|export| Some((export.name(), export.uplink()?)));
    known.map(|(name, uplink)| ExportUplink { export: name.to_owned(), uplink: uplink.report() }).collect()
}
