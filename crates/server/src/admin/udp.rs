//! `GET /v1/udp`: what came and went over UDP, by address and interface.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use crate::udp::UdpTraffic;

/// What UDP's sockets have carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Udp {
    /// By address, and of each address by interface, those that are gone included; none where UDP is not served.
    pub groups: Vec<UdpTraffic>,
}

/// Answers with the counts of UDP as they are now.
pub async fn udp(State(asked): State<Arc<Asked>>) -> Json<Udp> {
    Json(Udp { groups: asked.shared.udp.traffic() })
}
