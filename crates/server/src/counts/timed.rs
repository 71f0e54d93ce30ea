//! A file system whose calls say how long they take, so that the time of storage is known apart from the rest.

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{Caller, FileSystem, ReadFile, ReadOutcome, Result};

use super::desk::{enter_storage, leave_storage};
use crate::limits::BULK_MIN;

/// The same files.
#[derive(Clone, Copy)]
pub struct Timed<'f>(&'f dyn FileSystem);

impl<'f> Timed<'f> {
    /// Around a file system.
    pub fn around(inner: &'f dyn FileSystem) -> Self {
        Self(inner)
    }
}

impl Layer for Timed<'_> {
    fn inner(&self) -> &dyn FileSystem {
        self.0
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let asking = enter_storage(is_long(call));
        let outcome = run(self.0);
        leave_storage(asking);
        outcome
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        let asking = enter_storage(read.count >= BULK_MIN);
        let outcome = self.0.read(caller, read, buffer);
        leave_storage(asking);
        outcome
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
            | Call::GetXattr
            | Call::GetAcl
    )
}
