//! What a capture recorded, for people and for programs.

use std::collections::BTreeMap;

use howdah_capture::End;
use serde::Serialize;

/// What was recorded.
#[derive(Debug, Serialize)]
pub struct CaptureRecording {
    /// The server.
    pub server: String,
    /// The file.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// How it ended, and what was counted.
    #[serde(flatten)]
    pub end: End,
    /// Calls by procedure.
    pub procedures: BTreeMap<String, u64>,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
}
