//! How much is written behind, and what came of it.

use std::time::Duration;

use howdah_tune::flight::{Bounds, Choice, Expected};

/// How much is written behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBehindOptions {
    /// Bytes of one call: the server's preferred transfer size.
    pub block: usize,
    /// Bytes that may be held: data is, until it is committed. Who writes beyond it waits until there is room.
    pub memory_budget: usize,
    /// The most calls at a time.
    pub in_flight: usize,
    /// What the path is expected to carry.
    pub expected: Option<Expected>,
    /// How long less than a block is held back before it is sent (Linux: `dirty_expire_centisecs`).
    pub gathered_for: Duration,
    /// The most writes that are answered only when their data is durable, where more is held than the path needs. Only for callers that have
    /// many writes under way at a time, and need no COMMIT then.
    pub waiting_answers: usize,
    /// How long a caller waits while no call to the server ends; then it gets [`FsError::Delay`](howdah_vfs::FsError), and nothing is
    /// lost. `None`: for ever.
    pub patience: Option<Duration>,
}

impl Default for WriteBehindOptions {
    /// 1 MiB transfers, and as many as a path of 10 Gb/s and 100 ms takes twice over.
    fn default() -> Self {
        Self {
            block: 1 << 20,
            memory_budget: 256 << 20,
            in_flight: Bounds::default().ceiling,
            expected: None,
            gathered_for: Duration::from_secs(30),
            waiting_answers: 0,
            patience: None,
        }
    }
}

/// What a write-behind holds, has done, and chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteBehindReport {
    /// Bytes held: gathered, on their way, or not committed.
    pub held: usize,
    /// The most that may be held.
    pub memory_budget: usize,
    /// Calls made to write.
    pub written: u64,
    /// Of those, how many wrote again what the server had lost.
    pub written_again: u64,
    /// COMMITs made before anybody asked for them, so that memory becomes free.
    pub committed_ahead: u64,
    /// How often a writer waited because the memory was full.
    pub waited_for_memory: u64,
    /// Calls kept in flight, and why.
    pub in_flight: Choice,
}
