//! The way from an export to the server behind it, as reported by the code that opened it: this crate knows no client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reports how the way to a far server is.
pub trait Uplink: Send + Sync {
    /// As it is now.
    fn report(&self) -> UplinkReport;
}

/// The way to a far server, and the caches before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UplinkReport {
    /// The far export, as a URL.
    pub url: String,
    /// Whether the far server answers.
    pub is_up: bool,
    /// Connections to it.
    pub connections: usize,
    /// How long a small call takes; none before the first.
    pub rtt_seconds: Option<f64>,
    /// READs and WRITEs in flight.
    pub calls_in_flight: usize,
    /// How many may be: twice what the path was measured to hold.
    pub calls_in_flight_max: usize,
    /// Bytes of one of them on average.
    pub bytes_per_call: usize,
    /// Bytes that READs brought.
    pub read_bytes: u64,
    /// Bytes that WRITEs took.
    pub written_bytes: u64,
    /// Bytes per second in the last look; 0 if the other direction moves more.
    pub read_per_second: f64,
    /// See `read_per_second`.
    pub written_per_second: f64,
    /// Which side limits: `near` (the clients ask for no more), `relay` (this host), `far` (the path or the far server), or `none`.
    pub limited_by: String,
    /// What limits, its figures, and what can be done.
    pub sentence: String,
    /// The caches, if there are any.
    pub cache: Option<UplinkCache>,
    /// The cache on disk, if one was asked for.
    #[serde(default)]
    pub disk: Option<UplinkDisk>,
}

/// The cache on disk before a far server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UplinkDisk {
    /// Its directory.
    pub directory: String,
    /// `on`, `loading`, `full`, `hangs`, `fails`, or `unused`.
    pub state: String,
    /// The same with its figures, and what is wrong.
    pub sentence: String,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
    /// How many it may take.
    pub bytes_max: u64,
    /// Reads that it answered.
    pub hits: u64,
    /// Reads that the far server answered.
    pub misses: u64,
}

/// The caches before a far server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UplinkCache {
    /// Questions for attributes, names and rights that were answered from memory.
    pub attribute_hits: u64,
    /// Those that were passed on.
    pub attribute_misses: u64,
    /// Reads that were answered from what was read ahead.
    pub data_hits: u64,
    /// Reads that were not.
    pub data_misses: u64,
    /// Bytes read ahead.
    pub read_ahead_bytes: u64,
    /// How many they may be.
    pub read_ahead_bytes_max: u64,
    /// Bytes written by clients that are not safe on the far server yet.
    pub dirty_bytes: u64,
    /// How many they may be.
    pub dirty_bytes_max: u64,
    /// How often a writer waited since they were as many.
    pub full_waits: u64,
}
