//! A node that is open: its handle and the descriptors that lead to it. Holds state and no operation.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use howdah_vfs::{Caller, Handle, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use rustix::fs::fstat;

use super::flushes::Flushes;
use super::known::Identification;

/// An open node. As long as it lives, the kernel gives its file number to no other node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) handle: Handle,
    base: Base,
    reading: OnceLock<Arc<OwnedFd>>,
    writing: OnceLock<Arc<OwnedFd>>,
    verdict: Mutex<Option<Verdict>>,
    device: OnceLock<u64>,
    created: OnceLock<Timestamp>,
    /// Whether it was asked for since the cache last looked.
    touched: AtomicBool,
    /// The tick at which it was last asked for.
    used: AtomicU32,
    uncommitted: AtomicBool,
    is_let_go: AtomicBool,
    may_be_directory: AtomicBool,
    flushes: Flushes,
    mode: Mutex<()>,
    open: Arc<AtomicUsize>,
}

/// The descriptor that a node starts with.
#[derive(Debug)]
enum Base {
    /// Opened with `O_PATH`: names the node and does nothing else.
    Path(OwnedFd),
    /// Opened for reading and writing, by CREATE.
    ReadWrite(Arc<OwnedFd>),
}

/// What the kernel last said about a caller's rights on this node.
#[derive(Debug, Clone)]
struct Verdict {
    caller: Caller,
    changed: Timestamp,
    right: Right,
}

/// A right to the data of a file, or the entries of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Read,
    Write,
}

impl Node {
    /// A node behind an `O_PATH` descriptor. `tick`: now; `open` counts the descriptors of all nodes.
    pub(super) fn new(handle: Handle, path: OwnedFd, tick: u32, open: &Arc<AtomicUsize>) -> Self {
        Self::with_base(handle, Base::Path(path), tick, open)
    }

    /// A node behind a descriptor that reads and writes.
    pub(super) fn created(handle: Handle, file: OwnedFd, tick: u32, open: &Arc<AtomicUsize>) -> Self {
        Self::with_base(handle, Base::ReadWrite(Arc::new(file)), tick, open)
    }

    fn with_base(handle: Handle, base: Base, tick: u32, open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        let may_be_directory = AtomicBool::new(matches!(base, Base::Path(_)));
        Self {
            handle,
            base,
            reading: OnceLock::new(),
            writing: OnceLock::new(),
            verdict: Mutex::new(None),
            device: OnceLock::new(),
            created: OnceLock::new(),
            touched: AtomicBool::new(false),
            used: AtomicU32::new(tick),
            uncommitted: AtomicBool::new(false),
            is_let_go: AtomicBool::new(false),
            may_be_directory,
            flushes: Flushes::default(),
            mode: Mutex::new(()),
            open: Arc::clone(open),
        }
    }

    /// A look at the node had this, too.
    pub(super) fn found(&self, identification: &Identification) {
        if let Some(birth) = identification.birth {
            self.created.get_or_init(|| birth);
        }
    }

    /// When it was made, once that was seen.
    pub(super) fn birth(&self) -> Option<Timestamp> {
        self.created.get().copied()
    }

    /// It is asked for, at this tick.
    pub(super) fn touch(&self, tick: u32) {
        self.touched.store(true, Ordering::Relaxed);
        self.used.store(tick, Ordering::Relaxed);
    }

    /// Whether it was asked for since the last such question.
    pub(super) fn take_touched(&self) -> bool {
        self.touched.swap(false, Ordering::Relaxed)
    }

    /// Ticks since it was asked for.
    pub(super) fn age(&self, now: u32) -> u32 {
        now.wrapping_sub(self.used.load(Ordering::Relaxed))
    }

    /// Whether data was written that no COMMIT has made durable since.
    pub(super) fn is_uncommitted(&self) -> bool {
        self.uncommitted.load(Ordering::SeqCst)
    }

    /// Data was written.
    pub(super) fn set_uncommitted(&self) {
        self.uncommitted.store(true, Ordering::SeqCst);
    }

    /// What was written is about to be made durable. Whether there was anything.
    pub(super) fn take_uncommitted(&self) -> bool {
        self.uncommitted.swap(false, Ordering::Relaxed)
    }

    /// The cache lets go of it.
    pub(super) fn let_go(&self) {
        self.is_let_go.store(true, Ordering::SeqCst);
    }

    /// Whether the cache has let go of it: who writes to it from then on sees that it is flushed.
    pub(super) fn is_let_go(&self) -> bool {
        self.is_let_go.load(Ordering::SeqCst)
    }

    /// Whether it was not found to be something else than a directory.
    pub(super) fn may_be_directory(&self) -> bool {
        self.may_be_directory.load(Ordering::Relaxed)
    }

    /// It is something else than a directory.
    pub(super) fn on_no_directory(&self) {
        self.may_be_directory.store(false, Ordering::Relaxed);
    }

    pub(super) fn flushes(&self) -> &Flushes {
        &self.flushes
    }

    /// Holds its mode: while that is set, and while it has bits that are lent to it.
    pub(super) fn hold_mode(&self) -> MutexGuard<'_, ()> {
        self.mode.lock()
    }

    /// Whether the kernel has granted a caller this right while the node had this `changed` time: a new mode, owner or access list
    /// moves it.
    pub(super) fn is_granted(&self, caller: &Caller, right: Right, changed: Timestamp) -> bool {
        let verdict = self.verdict.lock();
        verdict
            .as_ref()
            .is_some_and(|last| last.changed == changed && last.right == right && last.caller == *caller)
    }

    /// The kernel has granted it now.
    pub(super) fn on_granted(&self, caller: &Caller, right: Right, changed: Timestamp) {
        *self.verdict.lock() = Some(Verdict { caller: caller.clone(), changed, right });
    }

    /// A descriptor that leads to the node; good for looking at it, not for its data.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.base {
            Base::Path(path) => path.as_fd(),
            Base::ReadWrite(file) => file.as_fd(),
        }
    }

    /// The descriptor for reading, if there is one already.
    pub(super) fn reading(&self) -> Option<&Arc<OwnedFd>> {
        self.writing().or_else(|| self.reading.get())
    }

    /// The descriptor for reading and writing, if there is one already.
    pub(super) fn writing(&self) -> Option<&Arc<OwnedFd>> {
        match &self.base {
            Base::ReadWrite(file) => Some(file),
            Base::Path(_) => self.writing.get(),
        }
    }

    /// Keeps a descriptor for reading; the one that is kept wins over a later one.
    pub(super) fn keep_reading(&self, file: OwnedFd) -> &Arc<OwnedFd> {
        self.keep(&self.reading, file)
    }

    /// Keeps a descriptor for reading and writing.
    pub(super) fn keep_writing(&self, file: OwnedFd) -> &Arc<OwnedFd> {
        self.keep(&self.writing, file)
    }

    fn keep<'a>(&self, place: &'a OnceLock<Arc<OwnedFd>>, file: OwnedFd) -> &'a Arc<OwnedFd> {
        place.get_or_init(|| {
            self.open.fetch_add(1, Ordering::Relaxed);
            Arc::new(file)
        })
    }

    /// The number of the device that it is on: one look, and none afterwards.
    pub(super) fn device(&self) -> Option<u64> {
        if let Some(known) = self.device.get() {
            return Some(*known);
        }
        #[allow(clippy::unnecessary_cast)] // the type of the field differs between architectures
        let device = fstat(self.descriptor()).ok()?.st_dev as u64;
        Some(*self.device.get_or_init(|| device))
    }

    /// Whether its last name is gone, and with it whatever could be lost.
    pub(super) fn is_gone(&self) -> bool {
        fstat(self.descriptor()).is_ok_and(|stat| stat.st_nlink == 0)
    }

    fn descriptors(&self) -> usize {
        1 + usize::from(self.reading.get().is_some()) + usize::from(self.writing.get().is_some())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.open.fetch_sub(self.descriptors(), Ordering::Relaxed);
    }
}
