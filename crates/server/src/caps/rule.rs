//! A `[[limit]]` of the configuration.

use std::time::Duration;

use crate::Peer;
use crate::exports::{Clients, NameVerdict};

/// How much some clients may have of some exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapRule {
    /// Its name, by which it is shown and set.
    pub name: String,
    /// Its clients; empty: all.
    pub clients: Vec<Clients>,
    /// Names of its exports; empty: all.
    pub exports: Vec<String>,
    /// Each client address has the rates for itself; otherwise all clients of the rule share them.
    pub per_client: bool,
    /// Bytes a second of replies.
    pub read: Option<u64>,
    /// Bytes a second of calls.
    pub write: Option<u64>,
    /// Calls a second.
    pub calls: Option<u64>,
    /// A client that was idle may use what came in within this time at once.
    pub burst: Duration,
}

impl CapRule {
    /// The burst of a rule that names none.
    pub const BURST: Duration = Duration::from_millis(250);

    /// Whether it is for this client.
    pub fn is_for(&self, peer: &Peer) -> bool {
        self.clients.is_empty()
            || self.clients.iter().any(|clients| clients.judge(peer, None) == NameVerdict::Fits)
    }

    /// Whether it is for an export.
    pub fn covers(&self, export: &str) -> bool {
        self.exports.is_empty() || self.exports.iter().any(|name| name == export)
    }
}
