//! A file system in memory that is killed again and again, and loses what was not committed.

use std::sync::atomic::{AtomicU64, Ordering};

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};

/// Killed before every so-many-th write.
pub struct Restarting {
    inner: MemoryFileSystem,
    every: u64,
    writes: AtomicU64,
}

impl Restarting {
    /// Empty, and killed before every so-many-th write.
    pub fn every(every: u64) -> Self {
        Self { inner: MemoryFileSystem::new(), every, writes: AtomicU64::new(0) }
    }

    /// How often it was killed.
    pub fn kills(&self) -> u64 {
        self.writes.load(Ordering::Relaxed) / self.every
    }
}

impl Layer for Restarting {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Write && (self.writes.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(self.every)
        {
            self.inner.restart();
        }
        run(&self.inner)
    }
}
