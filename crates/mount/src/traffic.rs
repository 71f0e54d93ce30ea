//! How much passed through a mount.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What passed through a mount since it was mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests of the kernel.
    pub requests: u64,
    /// Bytes that the kernel read.
    pub read: u64,
    /// Bytes that the kernel wrote.
    pub written: u64,
}

/// The counters of it.
#[derive(Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
}

impl Counters {
    pub fn on_request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub fn on_read(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Relaxed);
    }

    pub fn on_write(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Relaxed);
    }

    pub fn now(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Relaxed),
            read: self.read.load(Relaxed),
            written: self.written.load(Relaxed),
        }
    }
}
