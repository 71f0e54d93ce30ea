//! An NFS mount of this host's kernel.

use serde::{Deserialize, Serialize};

/// A mount, as `/proc/self/mountstats` shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MountFacts {
    /// `HOST:/PATH`.
    pub server: String,
    /// Where.
    pub on: String,
    /// `tcp`, `udp`, `rdma`, with a 6 at the end for IPv6.
    pub protocol: Option<String>,
    /// The version, as `3` or `4.2`.
    pub version: Option<String>,
    /// Bytes of a READ at most.
    pub read_size: Option<u64>,
    /// Bytes of a WRITE at most.
    pub write_size: Option<u64>,
    /// Connections.
    pub connections: Option<u64>,
    /// The number of its device, as `0:47`.
    pub device: Option<String>,
    /// KiB that are read ahead.
    pub read_ahead_kib: Option<u64>,
    /// Calls in all.
    pub calls: u64,
    /// How often one was sent again.
    pub retransmissions: u64,
    /// READs, and how many seconds they took on the wire and at the server on average.
    pub reads: u64,
    /// See [`Self::reads`].
    pub read_seconds: Option<f64>,
    /// The most calls that were ever in flight on one connection.
    pub slots_used: Option<u64>,
    /// How many calls waited for a slot whenever one was made, on average.
    pub waited_for_slot: Option<f64>,
}
