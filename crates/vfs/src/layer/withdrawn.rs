//! What stands in for a file system that is not served any more: to every call its node is gone.

use super::{Call, Layer};
use crate::memory::MemoryFileSystem;
use crate::{FileSystem, FsError, Result};

/// A file system without nodes: every call is refused as stale.
#[derive(Default)]
pub struct Withdrawn {
    /// Has a root, which a file system must name.
    empty: MemoryFileSystem,
}

impl Layer for Withdrawn {
    fn inner(&self) -> &dyn FileSystem {
        &self.empty
    }

    fn pass<T>(&self, _call: Call, _run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        Err(FsError::Stale)
    }
}
