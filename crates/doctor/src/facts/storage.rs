//! What a server keeps its files on, seen through small calls.

use serde::{Deserialize, Serialize};

/// Times of single calls, medians in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageFacts {
    /// A call that asks for nothing (NULL): the network, and a thread that wakes.
    pub nothing: Option<f64>,
    /// Attributes (GETATTR).
    pub attributes: Option<f64>,
    /// A small READ.
    pub read: Option<f64>,
    /// So many calls for attributes at once
    pub at_once: u64,
    /// took so long until the last was answered.
    pub at_once_seconds: Option<f64>,
    /// A directory of this host that was measured, if one was.
    pub directory: Option<String>,
    /// Bytes per second that were written there.
    pub writes: Option<f64>,
    /// Bytes per second that were read.
    pub reads: Option<f64>,
}
