//! A file system whose calls say how long they take, so that storage can be told from the rest.

use std::sync::Arc;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{Caller, FileSystem, Handle, ReadOutcome, Result};

use super::desk::in_storage;
use crate::limits::BULK_MIN;

/// The same files.
pub struct Timed(Arc<dyn FileSystem>);

impl Timed {
    /// Around a file system.
    pub fn around(inner: Arc<dyn FileSystem>) -> Self {
        Self(inner)
    }
}

impl Layer for Timed {
    fn inner(&self) -> &dyn FileSystem {
        &*self.0
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        in_storage(is_long(call), || run(&*self.0))
    }

    fn read(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        in_storage(count >= BULK_MIN, || self.0.read(caller, node, offset, count, buffer))
    }
}

/// Whether reading the clock twice is nothing beside it: what changes something, and what makes a list.
fn is_long(call: Call) -> bool {
    !matches!(
        call,
        Call::Attributes
            | Call::Lookup
            | Call::Parent
            | Call::Access
            | Call::ReadLink
            | Call::Read
            | Call::Statistics
            | Call::Limits
    )
}
