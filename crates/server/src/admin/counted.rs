//! What was asked and how long it took, as plain data: procedures, exports, workers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was counted of each procedure, all exports together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Procedures {
    /// Seconds since the server began to count.
    pub seconds: f64,
    /// Those that were called, in the order of their protocols.
    pub procedures: Vec<Procedure>,
    /// What came to no procedure.
    pub unheard: Unheard,
}

/// The same by export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exports {
    /// Seconds since the server began to count.
    pub seconds: f64,
    /// Each that is or was served; last, if there are any, those that share one row, and calls that are for none.
    pub exports: Vec<Export>,
}

/// Calls for an export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Export {
    /// What clients mount; `(others)`, `(none)`.
    pub export: String,
    /// Its id; none of the last two.
    pub id: Option<u32>,
    /// Why it cannot be mounted now, if its directory is gone.
    #[serde(default)]
    pub gone: Option<String>,
    /// How full its file system is; none if it is not served any more, or does not answer.
    #[serde(default)]
    pub capacity: Option<Capacity>,
    /// Those that were called.
    pub procedures: Vec<Procedure>,
}

/// How full a file system is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Its size.
    pub total_bytes: u64,
    /// Free space.
    pub free_bytes: u64,
    /// Free space for users other than root.
    pub available_bytes: u64,
    /// Inodes; 0 where there is no limit.
    pub total_files: u64,
    /// Free inodes.
    pub free_files: u64,
}

/// What was counted of a procedure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Procedure {
    /// `nfs`, `mountd` or `portmapper`.
    pub program: String,
    /// The program's version.
    pub version: u32,
    /// Its name in the RFC.
    pub procedure: String,
    /// Calls, however they ended.
    pub calls: u64,
    /// Of these, repetitions that were answered from memory.
    pub replayed: u64,
    /// Of these, those without an answer: repetitions of calls that still ran, for the most part.
    pub unanswered: u64,
    /// How many ended with each error.
    pub errors: BTreeMap<String, u64>,
    /// Bytes of calls.
    pub received: u64,
    /// Bytes of replies.
    pub sent: u64,
    /// Seconds within the file system, of all calls.
    pub storage_seconds: f64,
    /// From a call being complete to its reply being handed to the socket.
    pub latency: Latency,
}

/// How long calls took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Replies that were handed to the socket.
    pub calls: u64,
    /// All of them together.
    pub seconds: f64,
    /// What half of them stayed below; none of nothing.
    pub p50_seconds: Option<f64>,
    /// What nine of ten stayed below.
    pub p90_seconds: Option<f64>,
    /// What ninety-nine of a hundred stayed below.
    pub p99_seconds: Option<f64>,
    /// Those with calls, the quickest first.
    pub buckets: Vec<Bucket>,
}

/// Calls that took about the same time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// They took less, and not less than the end of the bucket before; none: more than all others.
    pub below_seconds: Option<f64>,
    /// How many they are.
    pub calls: u64,
}

/// What came to no procedure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unheard {
    /// No calls, or headers that make no sense.
    pub malformed: u64,
    /// Credentials that do not do.
    pub authentication: u64,
    /// No such program, version or procedure.
    pub unavailable: u64,
}

/// What workers do now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workers {
    /// How many there are.
    pub workers: usize,
    /// They wait for calls.
    pub waiting: usize,
    /// They receive, run calls or send.
    pub running: usize,
    /// They wait for a file system.
    pub in_storage: usize,
    /// Calls that wait in line, since their export has as many in its storage as it may.
    #[serde(default)]
    pub calls_in_line: usize,
    /// The replies that are kept for repetitions.
    pub reply_cache: ReplyCache,
}

/// The duplicate-request cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyCache {
    /// Calls whose replies are kept.
    pub calls: usize,
    /// Bytes of these replies.
    pub bytes: usize,
    /// Calls that were answered from it so far.
    pub replayed: u64,
}
