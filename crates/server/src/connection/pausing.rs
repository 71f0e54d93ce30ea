//! Whether a connection is read. The reader stops when too much waits to be sent; the sender resumes it. Both look at once, and
//! none may leave it to the other.

use crate::sync::atomic::{AtomicBool, Ordering};

/// Whether it is read, and why not. `is_full`: whether so much waits to be sent that no further call should be read.
pub struct Pausing {
    /// Reading stopped because the peer does not take its replies, or since it is held.
    paused: AtomicBool,
    /// It is not to be read for now, since the kernel's memory is short.
    held: AtomicBool,
}

impl Pausing {
    /// It is read.
    pub fn new() -> Self {
        Self { paused: AtomicBool::new(false), held: AtomicBool::new(false) }
    }

    /// Whether no further call of it should be read.
    pub fn is_due(&self, is_full: impl Fn() -> bool) -> bool {
        self.held.load(Ordering::SeqCst) || is_full()
    }

    /// Stops reading; says whether it must: the reason may have gone meanwhile, and then the thread that took it away may have
    /// resumed it already.
    pub fn pause(&self, is_full: impl Fn() -> bool) -> bool {
        self.paused.store(true, Ordering::SeqCst);
        self.is_due(is_full) || !self.paused.swap(false, Ordering::SeqCst)
    }

    /// Whether reading stopped and may go on; only one caller gets `true`.
    pub fn resume(&self, is_full: impl Fn() -> bool) -> bool {
        !self.is_due(is_full) && self.paused.swap(false, Ordering::SeqCst)
    }

    /// Holds it, or lets it go: the caller asks [`Self::resume`] next.
    pub fn hold(&self, held: bool) {
        self.held.store(held, Ordering::SeqCst);
    }

    /// Whether it is held.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst)
    }

    /// Whether it is not read.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }
}
