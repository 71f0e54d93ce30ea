//! A server that is slow to set attributes.

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use parking_lot::{Condvar, Mutex};

/// A file system that sets attributes only after data was written.
#[derive(Default)]
pub struct SetsLate {
    inner: MemoryFileSystem,
    is_written: Mutex<bool>,
    writes: Condvar,
}

impl Layer for SetsLate {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::SetAttributes {
            let mut is_written = self.is_written.lock();
            self.writes.wait_while(&mut is_written, |is_written| !*is_written);
        }
        let outcome = run(&self.inner);
        if call == Call::Write {
            *self.is_written.lock() = true;
            self.writes.notify_all();
        }
        outcome
    }
}
