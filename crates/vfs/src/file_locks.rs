//! Byte-range locks on files: their shape, and those of a far file system, which its server keeps for all clients.

use std::sync::Arc;

use crate::{Caller, Handle, Result};

/// Is called with a lock owner whose lock may be free. Must not wait, nor make a call.
pub type LockFreed = Arc<dyn Fn(u64) + Send + Sync>;

/// A byte-range lock, as `fcntl(2)` knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLock {
    /// The first byte.
    pub first: u64,
    /// The last byte; `u64::MAX` if it reaches to the end, wherever that is.
    pub last: u64,
    /// Whether it excludes all others, or only exclusive ones.
    pub exclusive: bool,
}

impl FileLock {
    /// All bytes of a file.
    pub const ALL: (u64, u64) = (0, u64::MAX);

    /// What is left of it without these bytes: at most one part before them, and one behind.
    pub fn without(self, (first, last): (u64, u64)) -> impl Iterator<Item = Self> {
        let before = first.checked_sub(1).map(|end| Self { last: self.last.min(end), ..self });
        let behind = last.checked_add(1).map(|start| Self { first: self.first.max(start), ..self });
        before.into_iter().chain(behind).filter(|part| part.first <= part.last)
    }

    /// What of it is within these bytes.
    pub fn within(self, (first, last): (u64, u64)) -> Option<Self> {
        let part = Self { first: self.first.max(first), last: self.last.min(last), ..self };
        (part.first <= part.last).then_some(part)
    }
}

/// Locks that hold between all clients of a server, asked for by [`FileSystem::file_locks`](crate::FileSystem::file_locks). A lock owner
/// is a number that its user chooses, such as one for each process. No call waits until a lock is free.
///
/// What another client wrote before it unlocked is seen after a lock was granted, and what was written before an unlock is durable at the
/// server when others can lock. A lock that the server lost is an error of the file ([`FsError::Io`](crate::FsError::Io)) in each read,
/// write and lock, until those unlock who had locked something.
pub trait FileLocks: Send + Sync {
    /// Locks bytes, in place of what the owner held there (LOCK). Says which lock of another owner is in the way, if one is; then nothing
    /// changed. A lock that excludes others asks for the right to write, others for the right to read. `waits`: the owner asks again
    /// until it has the lock. Some servers keep its place among others for a while, and call when it is its turn
    /// ([`FileSystem::watch_locks`](crate::FileSystem::watch_locks)).
    fn lock_range(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
        waits: bool,
    ) -> Result<Option<FileLock>>;

    /// Which lock of another owner is in the way of this one, if one is (LOCKT).
    fn test_lock(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
    ) -> Result<Option<FileLock>>;

    /// Unlocks the bytes from the first to the last (LOCKU). It is no error if nothing is locked there.
    fn unlock_range(&self, caller: &Caller, node: &Handle, owner: u64, bytes: (u64, u64)) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_cut_into_what_is_within_and_what_is_not() {
        let lock = |first, last| FileLock { first, last, exclusive: true };
        let cut = |whole: FileLock, bytes| (whole.without(bytes).collect::<Vec<_>>(), whole.within(bytes));
        assert_eq!(cut(lock(10, 19), (12, 15)), (vec![lock(10, 11), lock(16, 19)], Some(lock(12, 15))));
        assert_eq!(cut(lock(10, 19), (20, 30)), (vec![lock(10, 19)], None));
        assert_eq!(cut(lock(10, 19), (0, 9)), (vec![lock(10, 19)], None));
        assert_eq!(cut(lock(0, u64::MAX), (0, u64::MAX)), (vec![], Some(lock(0, u64::MAX))));
        assert_eq!(cut(lock(5, u64::MAX), (0, 6)), (vec![lock(7, u64::MAX)], Some(lock(5, 6))));
    }
}
