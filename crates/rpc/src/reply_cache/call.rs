//! A call as the cache knows it.

use super::key::CallKey;

/// A call, and what shows whether the answer to an equal one is meant for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which call.
    pub key: CallKey,
    /// Where it came from: a connection, or a port.
    pub origin: u64,
    /// Its place among all calls: later ones have larger numbers.
    pub order: u64,
    /// What it may change: a name in a directory, a file; 0 for nothing.
    pub subjects: [u64; 2],
    /// Whether it changed something, once it was answered.
    pub has_changed: bool,
}
