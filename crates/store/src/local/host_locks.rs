//! Locks of NFS clients, set in the kernel so that processes of this host see them, and theirs as the kernel knows them.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{FileKind, FileLock, FsError, Handle, HostLocks, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::LocalFileSystem;
use super::errno::refusal;
use super::syscall;

impl HostLocks for LocalFileSystem {
    fn lock(&self, node: &Handle, wish: FileLock) -> Result<Option<FileLock>> {
        let file = self.locked_file(node)?;
        let mut lock =
            record(wish.first, wish.last, if wish.exclusive { libc::F_WRLCK } else { libc::F_RDLCK });
        match syscall::set_lock(file.as_fd(), &lock) {
            Ok(()) => Ok(None),
            Err(Errno::AGAIN | Errno::ACCESS) => {
                syscall::get_lock(file.as_fd(), &mut lock).map_err(refusal)?;
                // Let go between the two calls: the caller that wants the lock asks again.
                Ok(Some(lock_of(&lock).unwrap_or(wish)))
            }
            Err(errno) => Err(refusal(errno)),
        }
    }

    fn unlock(&self, node: &Handle, first: u64, last: u64) -> Result<()> {
        match self.locked.get(node) {
            Some(file) => {
                syscall::set_lock(file.as_fd(), &record(first, last, libc::F_UNLCK)).map_err(refusal)
            }
            None => Ok(()),
        }
    }

    fn unlock_all(&self, node: &Handle) {
        let file = self.locked.remove(node);
        // A thread in the middle of another call may hold it a moment longer.
        if let Some(file) = file {
            let _ = syscall::set_lock(file.as_fd(), &record(0, u64::MAX, libc::F_UNLCK));
        }
    }

    fn test(&self, node: &Handle, wish: FileLock) -> Result<Option<FileLock>> {
        let own = self.locked.get(node);
        let file = own.map_or_else(|| self.open_for_locks(node).map(Arc::new), Ok)?;
        let mut lock =
            record(wish.first, wish.last, if wish.exclusive { libc::F_WRLCK } else { libc::F_RDLCK });
        syscall::get_lock(file.as_fd(), &mut lock).map_err(refusal)?;
        Ok(lock_of(&lock))
    }
}

impl LocalFileSystem {
    fn locked_file(&self, node: &Handle) -> Result<Arc<OwnedFd>> {
        if let Some(file) = self.locked.get(node) {
            return Ok(file);
        }
        let opened = self.open_for_locks(node)?;
        self.locked.keep(node, opened).ok_or(FsError::Delay)
    }

    /// Exclusive locks need a descriptor that may write, where the file allows it.
    fn open_for_locks(&self, handle: &Handle) -> Result<OwnedFd> {
        let node = self.node(handle)?;
        let attributes = self.stat(&node)?;
        if attributes.kind != FileKind::Regular {
            return Err(FsError::Invalid);
        }
        self.identity.assume_root()?;
        // A lease of a local process must not keep the open waiting.
        let open = |how| self.tree.reopen(node.descriptor(), how | OFlags::NONBLOCK);
        match open(OFlags::RDWR) {
            Err(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::TXTBSY) => open(OFlags::RDONLY),
            other => other,
        }
        .map_err(refusal)
    }
}

fn record(first: u64, last: u64, kind: i32) -> libc::flock {
    // The kernel's offsets are signed. What begins beyond them can be locked by no local process.
    let start = i64::try_from(first).unwrap_or(i64::MAX);
    let length = i64::try_from(last).ok().and_then(|last| (last - start).checked_add(1)).unwrap_or(0);
    syscall::lock_record(kind, start, length)
}

/// What the kernel found in the way.
fn lock_of(lock: &libc::flock) -> Option<FileLock> {
    if i32::from(lock.l_type) == libc::F_UNLCK {
        return None;
    }
    let first = lock.l_start.max(0) as u64;
    let last = if lock.l_len == 0 { u64::MAX } else { first + (lock.l_len - 1).max(0) as u64 };
    Some(FileLock { first, last, exclusive: i32::from(lock.l_type) == libc::F_WRLCK })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use howdah_vfs::layer::WithoutSetId;
    use howdah_vfs::{Caller, FileSystem, Name};

    use super::*;
    use crate::local::Options;
    use crate::local::locked_files::LockedFiles;

    /// A file of a local directory, its file system, and the file as a process of this host has it open.
    fn opened() -> (tempfile::TempDir, LocalFileSystem, Handle, File) {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("f"), b"data").expect("written");
        let file_system = LocalFileSystem::open(directory.path(), Options::default()).expect("opened");
        let caller = Caller { user: rustix::process::geteuid().as_raw(), ..Caller::ROOT };
        let name = Name::parse(b"f").expect("a name");
        let node = file_system.lookup(&caller, &file_system.root(), name).expect("it is there").node.handle;
        let file = File::options().read(true).write(true).open(directory.path().join("f")).expect("opened");
        (directory, file_system, node, file)
    }

    fn lock_locally(file: &File, first: u64, last: u64, kind: i32) -> rustix::io::Result<()> {
        syscall::set_lock(file.as_fd(), &record(first, last, kind))
    }

    const WISH: FileLock = FileLock { first: 10, last: 19, exclusive: true };

    #[test]
    fn local_processes_and_clients_exclude_each_other() {
        let (_directory, file_system, node, file) = opened();
        let locks = file_system.host_locks().expect("a local file system");
        assert_eq!(locks.test(&node, WISH), Ok(None));
        assert_eq!(locks.lock(&node, WISH), Ok(None));
        assert_eq!(lock_locally(&file, 19, 30, libc::F_RDLCK), Err(Errno::AGAIN));
        lock_locally(&file, 20, u64::MAX, libc::F_RDLCK).expect("free");
        let wish = FileLock { first: 15, last: 25, exclusive: true };
        let held = FileLock { first: 20, last: u64::MAX, exclusive: false };
        assert_eq!([locks.lock(&node, wish), locks.test(&node, wish)], [Ok(Some(held)), Ok(Some(held))]);
        assert_eq!(locks.lock(&node, FileLock { exclusive: false, ..wish }), Ok(None), "both read");
        locks.unlock(&node, 0, 12).expect("unlocked");
        lock_locally(&file, 12, 12, libc::F_WRLCK).expect("free");
        assert_eq!(lock_locally(&file, 13, 13, libc::F_WRLCK), Err(Errno::AGAIN));
    }

    #[test]
    fn layers_have_them_too() {
        let (_directory, file_system, node, file) = opened();
        let layer = WithoutSetId::around(Arc::new(file_system));
        let locks = layer.host_locks().expect("those of the file system inside");
        assert_eq!(locks.lock(&node, WISH), Ok(None));
        assert_eq!(lock_locally(&file, 19, 30, libc::F_RDLCK), Err(Errno::AGAIN));
    }

    #[test]
    fn no_more_files_are_held_than_there_is_room_for() {
        let (directory, mut file_system, node, _) = opened();
        file_system.locked = LockedFiles::new(1, 0);
        std::fs::write(directory.path().join("g"), b"data").expect("written");
        let (caller, name) = (Caller::ROOT, Name::parse(b"g").expect("a name"));
        let other = file_system.lookup(&caller, &file_system.root(), name).expect("it is there").node.handle;
        assert_eq!(HostLocks::lock(&file_system, &node, WISH), Ok(None));
        assert_eq!(HostLocks::lock(&file_system, &other, WISH), Err(FsError::Delay));
        file_system.unlock_all(&node);
        assert_eq!(HostLocks::lock(&file_system, &other, WISH), Ok(None));
    }

    #[test]
    fn nothing_stays_locked_or_open_in_the_end() {
        let (_directory, file_system, node, file) = opened();
        let locks = file_system.host_locks().expect("a local file system");
        assert_eq!(locks.lock(&node, FileLock { first: 0, last: u64::MAX, exclusive: true }), Ok(None));
        assert_eq!(lock_locally(&file, 0, 0, libc::F_RDLCK), Err(Errno::AGAIN));
        // A lock lives on while other descriptors of the file close.
        file_system.forget(&node);
        assert_eq!(lock_locally(&file, 0, 0, libc::F_RDLCK), Err(Errno::AGAIN));
        locks.unlock_all(&node);
        lock_locally(&file, 0, u64::MAX, libc::F_WRLCK).expect("free");
        assert!(file_system.locked.get(&node).is_none());
        assert_eq!(locks.test(&node, WISH).map(|found| found.is_some()), Ok(true));
    }
}
