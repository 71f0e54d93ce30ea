//! What an NFSv4 server grants.

use serde::{Deserialize, Serialize};

/// A session of our own client, and what the file system has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerSessionFacts {
    /// The minor version of NFSv4.
    pub minor_version: u32,
    /// The most calls at the same time.
    pub slots: u32,
    /// The most operations in a call.
    pub operations: u32,
    /// Bytes of the longest call.
    pub request_bytes: u64,
    /// Bytes of the longest reply.
    pub reply_bytes: u64,
    /// Bytes of the longest reply that the server keeps for a repeated call.
    pub kept_bytes: u64,
    /// Seconds that the server keeps the state of a silent client.
    pub lease_seconds: f64,
    /// Connections that carry calls of the session.
    pub connections: u32,
    /// Whether the server takes them over one connection only.
    pub has_one_connection: bool,
    /// Whether data is read without an OPEN, if a file was read.
    pub reads_without_open: Option<bool>,
    /// Whether the server can call the client.
    pub calls_back: bool,
    /// Whether it delegated the root directory.
    pub delegates_directories: bool,
    /// Whether users can set extended attributes.
    pub has_xattrs: bool,
    /// Whether it finds holes (SEEK), if there was a file to ask about.
    pub has_seek: Option<bool>,
}
