//! How much is kept, and how long.

use std::time::Duration;

use crate::limits::{CALLS_REMEMBERED, KEPT_REPLY_MAX, REPLIES_KEPT, REPLY_AGE};

/// The bounds of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most calls at a time, those that run included.
    pub entries: usize,
    /// The most bytes of replies at a time.
    pub bytes: usize,
    /// How long a reply is kept.
    pub age: Duration,
    /// The longest reply that is kept, in bytes; a call answered at greater length runs again when repeated.
    pub reply: usize,
}

impl Default for Limits {
    /// What a server of one machine needs, for the reasons in [`crate::limits`].
    fn default() -> Self {
        Self { entries: CALLS_REMEMBERED, bytes: REPLIES_KEPT, age: REPLY_AGE, reply: KEPT_REPLY_MAX }
    }
}

impl Limits {
    /// The bounds of one of `shards` caches that share the work.
    pub fn divided(self, shards: usize) -> Self {
        Self { entries: (self.entries / shards).max(1), bytes: self.bytes / shards, ..self }
    }
}
