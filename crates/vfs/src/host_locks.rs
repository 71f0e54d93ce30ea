//! Byte-range locks that the kernel keeps for processes of this host, beside those of NFS clients.

use crate::{FileLock, Handle, Result};

/// The locks of a file system as processes of this host have them, asked for by
/// [`FileSystem::host_locks`](crate::FileSystem::host_locks). To the kernel all NFS clients together are one owner: which of
/// them holds what is kept elsewhere. No call waits for a lock, and none asks for a permission.
pub trait HostLocks: Send + Sync {
    /// Locks bytes for the NFS clients, in place of what they held there. Says which lock of a local process is in the
    /// way, if one is; then nothing changed.
    fn lock(&self, node: &Handle, wish: FileLock) -> Result<Option<FileLock>>;

    /// Unlocks these bytes for the NFS clients.
    fn unlock(&self, node: &Handle, first: u64, last: u64) -> Result<()>;

    /// Unlocks the whole file for the NFS clients.
    fn unlock_all(&self, node: &Handle);

    /// Which lock of a local process is in the way of this one, if one is.
    fn test(&self, node: &Handle, wish: FileLock) -> Result<Option<FileLock>>;
}
