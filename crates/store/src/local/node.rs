//! A node that is open: its handle and the descriptors that lead to it. Holds state and no operation.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use howdah_vfs::{Caller, Handle, Timestamp};
use parking_lot::Mutex;
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
    pub(super) verdict: Mutex<Option<Verdict>>,
    device: OnceLock<u64>,
    /// When it was made, once that was seen on the way to it.
    pub(super) created: OnceLock<Timestamp>,
    /// Whether it was asked for since the cache last looked.
    pub(super) touched: AtomicBool,
    /// The tick at which it was last asked for.
    pub(super) used: AtomicU32,
    /// Whether data was written that no COMMIT has made durable since.
    pub(super) uncommitted: AtomicBool,
    /// Whether the cache has let go of it: who writes to it from then on sees that it is flushed.
    pub(super) is_let_go: AtomicBool,
    /// Whether it was not found to be something else than a directory.
    pub(super) may_be_directory: AtomicBool,
    pub(super) flushes: Flushes,
    /// Held while its mode is set, and while it has bits that are lent to it.
    pub(super) mode: Mutex<()>,
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
pub(super) struct Verdict {
    pub(super) caller: Caller,
    /// The node's `changed` time then: a new mode, owner or access list moves it.
    pub(super) changed: Timestamp,
    /// The right that was asked for.
    pub(super) right: Right,
}

/// A right to the data of a file, or the entries of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Read,
    Write,
}

impl Node {
    /// A node behind an `O_PATH` descriptor. `open` counts the descriptors of all nodes.
    pub(super) fn new(handle: Handle, path: OwnedFd, open: &Arc<AtomicUsize>) -> Self {
        Self::with_base(handle, Base::Path(path), open)
    }

    /// A node behind a descriptor that reads and writes.
    pub(super) fn created(handle: Handle, file: OwnedFd, open: &Arc<AtomicUsize>) -> Self {
        Self::with_base(handle, Base::ReadWrite(Arc::new(file)), open)
    }

    fn with_base(handle: Handle, base: Base, open: &Arc<AtomicUsize>) -> Self {
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
            used: AtomicU32::new(0),
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
