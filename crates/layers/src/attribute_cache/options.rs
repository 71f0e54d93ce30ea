//! For how long what was seen is believed.

use std::time::Duration;

/// How long attributes are believed: `file_min` or `directory_min` after a change was seen, twice as long each time that
/// asking again shows none, up to `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeCacheOptions {
    /// Of a file that has just changed (Linux: `acregmin`).
    pub file_min: Duration,
    /// Of a directory that has just changed (Linux: `acdirmin`).
    pub directory_min: Duration,
    /// Of anything, however quiet (Linux: `acregmax`, `acdirmax`).
    pub max: Duration,
    /// The most nodes remembered, and the most names. Each takes about 200 bytes.
    pub entries: usize,
}

impl Default for AttributeCacheOptions {
    /// The times that Linux clients use, so that two clients of one server wait equally long for each other's changes.
    fn default() -> Self {
        Self {
            file_min: Duration::from_secs(3),
            directory_min: Duration::from_secs(30),
            max: Duration::from_secs(60),
            entries: 1 << 16,
        }
    }
}
