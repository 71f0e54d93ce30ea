//! Locks of NFS clients, set in the kernel so that processes of this host see them, and theirs as the kernel knows them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{FileKind, FileLock, FsError, Handle, HostLocks, Result};
use parking_lot::Mutex;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errno::refusal;
use super::open_nodes::OpenNodes;
use super::syscall;

/// File systems (`statfs.f_type`) that ask another host or process for each lock. That may take long, and all clients' locks would
/// wait for it; and on a head of a cluster that lost its address, locks would be in the way of those who reclaim them elsewhere. FUSE, NFS,
/// CIFS and SMB, Ceph, 9P, Lustre, GFS2, OCFS2, AFS, GPFS, BeeGFS.
const REMOTE: [u64; 12] = [
    0x6573_5546,
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x0102_1997,
    0x0bd0_0bd0,
    0x0116_1970,
    0x7461_636f,
    0x5346_414f,
    0x4750_4653,
    0x1983_0326,
];

/// Locks of NFS clients in the kernel. One open file description per file holds what all NFS clients together have locked: locks of
/// one description never exclude each other, and end with it. So it lives beside the cache of nodes, which closes what it likes.
pub(super) struct ClientLocks {
    nodes: Arc<OpenNodes>,
    files: Mutex<HashMap<Handle, Arc<OwnedFd>>>,
    /// How many files may hold locks.
    most: usize,
    is_local: bool,
}

impl ClientLocks {
    pub(super) fn new(nodes: Arc<OpenNodes>, most: usize) -> Self {
        let is_local = !REMOTE.contains(&nodes.tree().kind());
        Self { nodes, files: Mutex::default(), most, is_local }
    }

    /// Whether the kernel keeps locks of this file system by itself.
    pub(super) fn are_local(&self) -> bool {
        self.is_local
    }

    fn locked_file(&self, node: &Handle) -> Result<Arc<OwnedFd>> {
        if let Some(file) = self.held(node) {
            return Ok(file);
        }
        let opened = self.open_for_locks(node)?;
        let mut files = self.files.lock();
        let has_room = files.len() < self.most;
        match files.entry(*node) {
            Entry::Occupied(there) => Ok(Arc::clone(there.get())),
            Entry::Vacant(place) if has_room => Ok(Arc::clone(place.insert(Arc::new(opened)))),
            Entry::Vacant(_) => Err(FsError::Delay),
        }
    }

    /// The descriptor that holds locks of a file.
    fn held(&self, node: &Handle) -> Option<Arc<OwnedFd>> {
        self.files.lock().get(node).cloned()
    }

    /// Exclusive locks need a descriptor that may write, where the file allows it.
    fn open_for_locks(&self, handle: &Handle) -> Result<OwnedFd> {
        let node = self.nodes.node(handle)?;
        let attributes = self.nodes.stat(&node)?;
        if attributes.kind != FileKind::Regular {
            return Err(FsError::Invalid);
        }
        self.nodes.identity().assume_root()?;
        // A lease of a local process must not keep the open waiting.
        let open = |how| self.nodes.tree().reopen(node.descriptor(), how | OFlags::NONBLOCK);
        match open(OFlags::RDWR) {
            Err(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::TXTBSY) => open(OFlags::RDONLY),
            other => other,
        }
        .map_err(refusal)
    }
}

impl HostLocks for ClientLocks {
    fn lock(&self, node: &Handle, wish: FileLock) -> Result<Option<FileLock>> {
        let file = self.locked_file(node)?;
        let mut lock = record_of(wish);
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
        match self.held(node) {
            Some(file) => {
                syscall::set_lock(file.as_fd(), &record(first, last, libc::F_UNLCK)).map_err(refusal)
            }
            None => Ok(()),
        }
    }

    fn unlock_all(&self, node: &Handle) {
        let file = self.files.lock().remove(node);
        // A thread in the middle of another call may hold it a moment longer.
        if let Some(file) = file {
            let _ = syscall::set_lock(file.as_fd(), &record(0, u64::MAX, libc::F_UNLCK));
        }
    }

    fn test(&self, node: &Handle, wish: FileLock) -> Result<Option<FileLock>> {
        let own = self.held(node);
        let file = own.map_or_else(|| self.open_for_locks(node).map(Arc::new), Ok)?;
        let mut lock = record_of(wish);
        syscall::get_lock(file.as_fd(), &mut lock).map_err(refusal)?;
        Ok(lock_of(&lock))
    }
}

fn record_of(wish: FileLock) -> libc::flock {
    record(wish.first, wish.last, if wish.exclusive { libc::F_WRLCK } else { libc::F_RDLCK })
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
    use crate::local::{LocalFileSystem, Options};

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
        let (directory, file_system, node, _) = opened();
        let locks = ClientLocks::new(Arc::clone(file_system.nodes()), 1);
        std::fs::write(directory.path().join("g"), b"data").expect("written");
        let (caller, name) = (Caller::ROOT, Name::parse(b"g").expect("a name"));
        let other = file_system.lookup(&caller, &file_system.root(), name).expect("it is there").node.handle;
        assert_eq!(HostLocks::lock(&locks, &node, WISH), Ok(None));
        assert_eq!(HostLocks::lock(&locks, &other, WISH), Err(FsError::Delay));
        locks.unlock_all(&node);
        assert_eq!(HostLocks::lock(&locks, &other, WISH), Ok(None));
    }

    #[test]
    fn nothing_stays_locked_or_open_in_the_end() {
        let (_directory, file_system, node, file) = opened();
        let locks = file_system.host_locks().expect("a local file system");
        assert_eq!(locks.lock(&node, FileLock { first: 0, last: u64::MAX, exclusive: true }), Ok(None));
        assert_eq!(lock_locally(&file, 0, 0, libc::F_RDLCK), Err(Errno::AGAIN));
        // A lock lives on while other descriptors of the file close.
        file_system.nodes().cache().forget(&node);
        assert_eq!(lock_locally(&file, 0, 0, libc::F_RDLCK), Err(Errno::AGAIN));
        locks.unlock_all(&node);
        lock_locally(&file, 0, u64::MAX, libc::F_WRLCK).expect("free");
        assert!(file_system.locks().held(&node).is_none());
        assert_eq!(locks.test(&node, WISH).map(|found| found.is_some()), Ok(true));
    }
}
