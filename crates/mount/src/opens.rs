//! Open files and directories, by the number that the kernel has of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fuser::Errno;
use howdah_vfs::{Caller, Stability};
use parking_lot::Mutex;

use crate::fetched::Fetched;
use crate::nodes::KernelNode;
use crate::refused::{Answer, Refused};

/// An open file.
pub struct KernelFile {
    /// The file.
    pub node: Arc<KernelNode>,
    /// The caller that opened it. All reads and writes act as this caller.
    pub caller: Caller,
    /// How durable its writes are.
    pub stability: Stability,
}

/// An open directory.
pub struct OpenDirectory {
    /// The directory.
    pub node: Arc<KernelNode>,
    /// Entries that were fetched and not read yet.
    pub fetched: Mutex<Fetched>,
}

/// What is open, of one kind.
pub struct Opens<T> {
    table: Mutex<HashMap<u64, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Default for Opens<T> {
    fn default() -> Self {
        Self { table: Mutex::default(), next: AtomicU64::new(1) }
    }
}

impl<T> Opens<T> {
    /// Takes one, and gives it a number.
    pub fn add(&self, open: T) -> u64 {
        let number = self.next.fetch_add(1, Relaxed);
        self.table.lock().insert(number, Arc::new(open));
        number
    }

    /// That of a number.
    pub fn of(&self, number: u64) -> Answer<Arc<T>> {
        self.table.lock().get(&number).cloned().ok_or(Refused(Errno::EBADF))
    }

    /// Closes one.
    pub fn remove(&self, number: u64) -> Option<Arc<T>> {
        self.table.lock().remove(&number)
    }
}
