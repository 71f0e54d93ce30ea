//! Kerberos: how many contexts clients have, what calls by them came to, and why contexts were refused of late.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use crate::gss::{ContextRefusal, GssDoor, GssReport};

/// Kerberos of a server.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Kerberos {
    /// Contexts that there are; null if no export takes Kerberos.
    pub contexts: Option<usize>,
    /// What was counted since the start.
    pub counts: GssReport,
    /// The last contexts that were refused, the oldest first.
    pub refusals: Vec<KerberosRefusal>,
}

/// A context that was refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct KerberosRefusal {
    /// When it was refused last, in seconds since 1970.
    pub at: u64,
    /// The client's address.
    pub client: IpAddr,
    /// Why, and what to do.
    pub reason: String,
    /// How often, for this reason.
    pub times: u64,
}

impl From<ContextRefusal> for KerberosRefusal {
    fn from(ContextRefusal { at, client, why, times }: ContextRefusal) -> Self {
        let at = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { at, client, reason: why, times }
    }
}

/// Answers `GET /v1/kerberos`.
pub async fn kerberos(State(asked): State<Arc<Asked>>) -> Json<Kerberos> {
    let door = asked.shared.service.dispatcher.gss.as_deref();
    Json(Kerberos {
        contexts: door.map(GssDoor::contexts),
        counts: door.map(GssDoor::report).unwrap_or_default(),
        refusals: door
            .map(GssDoor::refusals)
            .unwrap_or_default()
            .into_iter()
            .map(KerberosRefusal::from)
            .collect(),
    })
}
