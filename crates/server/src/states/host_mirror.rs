//! Locks of NFS clients as processes of this host see them: the kernel gets what clients hold together, and asked what others
//! do.

use std::hash::BuildHasher;
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::locks::{Mutex, MutexGuard};
use howdah_state::{ByteRange, LockKind, MirrorPiece};
use howdah_vfs::{FileLock, FsError, HostLocks};

use super::file_key::FileKey;
use crate::exports::{Exported, Exports};

/// So many files may be brought up to date at once.
const STRIPES: usize = 64;

/// A lock of a local process that is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalLock {
    /// The bytes.
    pub range: ByteRange,
    /// How.
    pub kind: LockKind,
}

/// The kernel's locks of all exports.
pub struct HostMirror {
    exported: Arc<Exported>,
    stripes: Box<[Mutex<()>]>,
    hasher: RandomState,
    /// Whether it was logged that a lock is not shown to local processes.
    has_failed: AtomicBool,
}

impl HostMirror {
    /// Of these exports.
    pub fn new(exported: Arc<Exported>) -> Self {
        let stripes = (0..STRIPES).map(|_| Mutex::default()).collect();
        Self { exported, stripes, hasher: RandomState::new(), has_failed: AtomicBool::new(false) }
    }

    /// Brings the kernel's view of a file up to date, one thread at a time: what is `held` is asked once it is this one's turn. The first lock of
    /// a local process that is in the way.
    pub fn update(
        &self,
        file: &FileKey,
        held: impl FnOnce() -> (Vec<MirrorPiece>, bool),
    ) -> Option<LocalLock> {
        let exports = self.exported.now();
        let locks = host_locks(&exports, file)?;
        let _turn = self.turn(file);
        let (mut pieces, is_held) = held();
        if !is_held {
            locks.unlock_all(&file.node);
            return None;
        }
        // What is let go comes first.
        pieces.sort_by_key(|piece| piece.kind);
        pieces.iter().find_map(|piece| self.set(locks, file, piece))
    }

    /// Closes what exports keep open between calls.
    pub fn let_go(&self) {
        self.exported.now().iter().for_each(|export| export.let_go());
    }

    /// A lock of a local process that is in the way of this one.
    pub fn test(&self, file: &FileKey, range: ByteRange, kind: LockKind) -> Option<LocalLock> {
        let exports = self.exported.now();
        let found = host_locks(&exports, file)?.test(&file.node, wish(range, kind));
        found.unwrap_or_default().map(LocalLock::from)
    }

    fn set(&self, locks: &dyn HostLocks, file: &FileKey, piece: &MirrorPiece) -> Option<LocalLock> {
        let ByteRange { first, last } = piece.range;
        let set = match piece.kind {
            Some(kind) => locks.lock(&file.node, wish(piece.range, kind)),
            None => locks.unlock(&file.node, first, last).map(|()| None),
        };
        match set {
            Ok(found) => found.map(LocalLock::from),
            // A file that is gone has no local lockers either.
            Err(FsError::Stale) => None,
            Err(error) => {
                if !self.has_failed.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "processes of this host do not see a lock of an NFS client: locking the file here failed");
                }
                None
            }
        }
    }

    fn turn(&self, file: &FileKey) -> MutexGuard<'_, ()> {
        self.stripes[self.hasher.hash_one(file) as usize % STRIPES].lock()
    }
}

impl From<FileLock> for LocalLock {
    fn from(lock: FileLock) -> Self {
        let kind = if lock.exclusive { LockKind::Write } else { LockKind::Read };
        Self { range: ByteRange { first: lock.first, last: lock.last }, kind }
    }
}

fn host_locks<'e>(exports: &'e Exports, file: &FileKey) -> Option<&'e dyn HostLocks> {
    exports.find(file.export)?.host_locks()
}

fn wish(range: ByteRange, kind: LockKind) -> FileLock {
    FileLock { first: range.first, last: range.last, exclusive: kind == LockKind::Write }
}
