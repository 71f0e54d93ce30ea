//! Byte-range locks on files: their shape, and those of a far file system, which its server keeps for all clients.

use crate::{Caller, Handle, Result};

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
}

/// Locks that hold between all clients of a server, asked for by [`FileSystem::file_locks`](crate::FileSystem::file_locks). A lock owner
/// is a number that its user chooses, such as one for each process. No call waits until a lock is free.
///
/// What another client wrote before it unlocked is seen after a lock was granted, and what was written before an unlock is durable at the
/// server when others can lock. A lock that the server lost is an error of the file ([`FsError::Io`](crate::FsError::Io)) in each read,
/// write and lock, until those unlock who had locked something.
pub trait FileLocks: Send + Sync {
    /// Locks bytes, in place of what the owner held there (LOCK). Says which lock of another owner is in the way, if one is; then nothing
    /// changed. A lock that excludes others asks for the right to write, others for the right to read.
    fn lock_range(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
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
