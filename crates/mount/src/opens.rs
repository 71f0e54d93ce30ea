//! Open files and directories, by the number that the kernel has of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fuser::{Errno, FopenFlags};
use howdah_vfs::{Caller, Stability, Written};
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
    /// Whether it may write.
    pub writes: bool,
    /// Whether its writes go to the end of the file.
    pub appends: bool,
    /// Whether it was opened with O_DIRECT.
    direct: bool,
    /// How many failures of the node were there when it was opened, or were reported since.
    failures_told: AtomicU64,
}

impl KernelFile {
    /// A file that is opened with these flags of open(2).
    pub fn new(node: Arc<KernelNode>, caller: Caller, flags: i32, stability: Stability) -> Self {
        let failures_told = AtomicU64::new(node.content.lock().failures);
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
        let appends = writes && flags & libc::O_APPEND != 0;
        let direct = flags & libc::O_DIRECT != 0;
        Self { node, caller, stability, writes, appends, direct, failures_told }
    }

    /// How the kernel uses it. What is appended does not go where the kernel believes the end to be, so that it must not keep it. And it
    /// must not answer reads behind that end by itself where O_DIRECT asks for what is there now.
    pub fn how(&self, how: FopenFlags) -> FopenFlags {
        if self.appends || self.direct { FopenFlags::FOPEN_DIRECT_IO } else { how }
    }

    /// How durable its writes past the caches are: sent at once, since other hosts read them.
    pub fn direct_stability(&self) -> Stability {
        if self.stability == Stability::Unstable { Stability::DataSync } else { self.stability }
    }

    /// Data was written to it, and may have to be made durable when it is closed.
    pub fn wrote(&self, written: &Written) {
        if written.stability != Stability::Unstable {
            return;
        }
        let mut content = self.node.content.lock();
        let earlier = *content.unstable.get_or_insert(written.verifier);
        content.lost |= earlier != written.verifier;
        content.unstable = Some(written.verifier);
        content.writes += 1;
        content.writer = Some(self.caller.clone());
    }

    /// A write was refused, and data that was taken earlier may be lost with it. `is_told`: the program gets the error now.
    /// Then its next FSYNC need not say it again, by a verifier that changed for it. Others that have the file open get the
    /// error once.
    pub fn on_refused_write(&self, refused: Refused, is_told: bool) {
        if ![Errno::ENOSPC, Errno::EDQUOT, Errno::EIO].contains(&refused.0) {
            return;
        }
        let mut content = self.node.content.lock();
        let has_told_all = self.failures_told.load(Relaxed) == content.failures;
        content.unstable = None;
        content.again = true;
        content.failed(refused);
        if is_told && has_told_all {
            self.failures_told.store(content.failures, Relaxed);
        }
    }

    /// Why data of the node could not be made durable, if this open file did not report it yet. To be called when it does.
    pub fn untold_failure(&self) -> Option<Refused> {
        let content = self.node.content.lock();
        let reported = self.failures_told.swap(content.failures, Relaxed);
        content.failure.filter(|_| reported < content.failures)
    }
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
