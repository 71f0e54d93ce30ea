//! How much is kept, and how long.

use std::time::Duration;

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
    /// What a server of one machine needs.
    ///
    /// - 65,536 calls: a client that lost its connection repeats what it had in flight, at most some thousand calls, while
    ///   others may have made ten thousand calls a second for the seconds that it took to come back.
    /// - 16 MiB of replies: those calls at some 250 bytes, which is what CREATE with a handle and three sets of attributes
    ///   comes to.
    /// - 2 minutes: a client on TCP repeats after 60 seconds or when its connection breaks, and once more after that.
    /// - 1 KiB a reply: three times what any procedure that may not run twice answers.
    fn default() -> Self {
        Self { entries: 65_536, bytes: 16 << 20, age: Duration::from_secs(120), reply: 1 << 10 }
    }
}

impl Limits {
    /// The bounds of one of `shards` caches that share the work.
    pub fn divided(self, shards: usize) -> Self {
        Self { entries: (self.entries / shards).max(1), bytes: self.bytes / shards, ..self }
    }
}
