//! What workers see of how short memory is, and what came of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Set by the thread that sizes connections.
#[derive(Debug, Default)]
pub struct Pressing {
    refuses: AtomicBool,
    refused: AtomicU64,
    held: AtomicU64,
    cut: AtomicU64,
}

impl Pressing {
    /// No new connection should be taken in, or any may be.
    pub fn set_refuses(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::Relaxed);
    }

    /// Whether no new connection should be taken in.
    pub fn refuses(&self) -> bool {
        self.refuses.load(Ordering::Relaxed)
    }

    /// A connection was turned away.
    pub fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Connections turned away so far.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// A connection was cut, since its peer took nothing.
    pub fn count_cut(&self) {
        self.cut.fetch_add(1, Ordering::Relaxed);
    }

    /// Connections cut so far.
    pub fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// A connection is not read any more.
    pub fn count_held(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// How often a connection was not read any more.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}
