//! A counter of one thread, which any may read.

use crate::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread changes and any may read: adding is a load and a store, without a lock on the bus.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds. For the thread whose counter it is.
    #[inline]
    pub fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// How much it is now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
