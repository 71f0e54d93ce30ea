//! How handshakes ended, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// How handshakes ended since the server started.
#[derive(Debug, Default)]
pub struct TlsFigures {
    done: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
}

impl TlsFigures {
    /// One was done.
    pub fn on_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// One failed.
    pub fn on_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// One was not begun, since too many go on.
    pub fn on_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Each kind of end with its name, and how often it came.
    pub fn counts(&self) -> [(&'static str, u64); 3] {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        [("done", of(&self.done)), ("failed", of(&self.failed)), ("refused", of(&self.refused))]
    }
}
