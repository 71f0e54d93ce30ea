//! Locks of two mounts of one file system, which keeps them for both: no two programs hold what excludes each other.

mod support;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use howdah_mount::MountOptions;
use howdah_needs::{Lack, skipped};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, FileLock, FileLocks, FileSystem, Handle, Result};
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, fcntl_lock, flock};
use rustix::io::Errno;
use support::Mount;

const LOCK: FlockOperation = FlockOperation::LockExclusive;
const TRY_LOCK: FlockOperation = FlockOperation::NonBlockingLockExclusive;
const UNLOCK: FlockOperation = FlockOperation::Unlock;

/// A lock of a client: which client, its lock owner, the file, the lock.
type Held = ((u64, u64), Handle, FileLock);

/// A client of a server that keeps whole locks.
struct WithLocks {
    inner: Arc<MemoryFileSystem>,
    client: u64,
    held: Arc<Mutex<Vec<Held>>>,
}

impl WithLocks {
    fn in_the_way(&self, node: &Handle, owner: u64, wish: FileLock) -> Option<FileLock> {
        let is_in_the_way = |((client, its), file, lock): &&Held| {
            (*client, *its) != (self.client, owner)
                && file == node
                && (lock.exclusive || wish.exclusive)
                && (lock.first <= wish.last && lock.last >= wish.first)
        };
        self.held.lock().iter().find(is_in_the_way).map(|(_, _, lock)| *lock)
    }
}

impl Layer for WithLocks {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn file_locks(&self) -> Option<&dyn FileLocks> {
        Some(self)
    }

    fn lock_range(&self, _: &Caller, node: &Handle, owner: u64, lock: FileLock) -> Result<Option<FileLock>> {
        let conflict = self.in_the_way(node, owner, lock);
        if conflict.is_none() {
            self.held.lock().push(((self.client, owner), *node, lock));
        }
        Ok(conflict)
    }

    fn test_lock(&self, _: &Caller, node: &Handle, owner: u64, lock: FileLock) -> Result<Option<FileLock>> {
        Ok(self.in_the_way(node, owner, lock))
    }

    fn unlock_range(&self, _: &Caller, node: &Handle, owner: u64, (first, last): (u64, u64)) -> Result<()> {
        let is_in = |lock: &FileLock| first <= lock.first && lock.last <= last;
        self.held
            .lock()
            .retain(|(whose, file, lock)| *whose != (self.client, owner) || file != node || !is_in(lock));
        Ok(())
    }
}

/// Two mounts of one server.
fn two() -> Option<[Mount; 2]> {
    let (inner, held) = (Arc::new(MemoryFileSystem::new()), Arc::default());
    let mount = |client| {
        let files = WithLocks { inner: Arc::clone(&inner), client, held: Arc::clone(&held) };
        Mount::cached_with(Arc::new(files), &MountOptions::default())
    };
    Some([mount(1)?, mount(2)?])
}

fn open(mount: &Mount) -> File {
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false).open(mount.at("file"));
    opened.expect("opened")
}

fn read(file: &File) -> [u8; 4] {
    let mut data = [0; 4];
    file.read_exact_at(&mut data, 0).expect("read");
    data
}

#[test]
fn programs_of_two_mounts_exclude_each_other() {
    let Some(mounts) = two() else { return };
    let [one, other] = [0, 1].map(|mount: usize| open(&mounts[mount]));
    for lock in [flock::<&File>, fcntl_lock::<&File>] {
        lock(&one, TRY_LOCK).expect("locked");
        let refused = lock(&other, TRY_LOCK).expect_err("the other mount has it");
        assert!([Errno::AGAIN, Errno::ACCESS].contains(&refused), "{refused}");
        lock(&one, UNLOCK).expect("unlocked");
        lock(&other, TRY_LOCK).expect("locked");
        lock(&other, UNLOCK).expect("unlocked");
    }
    // A process that closes any of its files unlocks what it has of the file; an open file keeps its own.
    fcntl_lock(&one, TRY_LOCK).expect("locked");
    drop(open(&mounts[0]));
    fcntl_lock(&other, TRY_LOCK).expect("locked");
    fcntl_lock(&other, UNLOCK).expect("unlocked");
    flock(&one, TRY_LOCK).expect("locked");
    drop(open(&mounts[0]));
    assert_eq!(flock(&other, TRY_LOCK), Err(Errno::AGAIN));
    // The kernel says later that it is closed.
    drop(one);
    flock(&other, LOCK).expect("locked");
    drop(other);
    mounts.into_iter().for_each(Mount::unmount);
}

#[test]
fn who_locks_sees_what_others_wrote_before_they_unlocked() {
    const ROUNDS: u32 = 40;
    let Some(mounts) = two() else { return };
    open(&mounts[0]).write_all_at(&0_u32.to_be_bytes(), 0).expect("written");
    let is_held = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (file, is_held) = (open(&mounts[thread % 2]), &is_held);
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    flock(&file, LOCK).expect("locked");
                    assert!(!is_held.swap(true, SeqCst), "two have it");
                    let count = u32::from_be_bytes(read(&file)) + 1;
                    file.write_all_at(&count.to_be_bytes(), 0).expect("written");
                    is_held.store(false, SeqCst);
                    flock(&file, UNLOCK).expect("unlocked");
                }
            });
        }
    });
    let file = open(&mounts[1]);
    assert_eq!(u32::from_be_bytes(read(&file)), 4 * ROUNDS);
    drop(file);
    mounts.into_iter().for_each(Mount::unmount);
}

#[test]
fn a_program_that_waits_for_a_lock_is_ended_by_its_timer() {
    let Some(mounts) = two() else { return };
    let (one, name) = (open(&mounts[0]), mounts[1].at("file"));
    drop(open(&mounts[1]));
    flock(&one, LOCK).expect("locked");
    // From util-linux: it sets a timer and waits.
    let wait = |time: &str| Command::new("flock").args(["-w", time]).arg(&name).arg("true").status();
    match wait("0.3") {
        Err(error) => skipped(Lack::Program, format_args!("flock: {error}")),
        Ok(status) => assert_eq!(status.code(), Some(1), "the lock is held"),
    }
    flock(&one, UNLOCK).expect("unlocked");
    // What it waited for is not locked for it afterwards.
    flock(&one, TRY_LOCK).expect("locked");
    drop(one);
    mounts.into_iter().for_each(Mount::unmount);
}

#[test]
fn locks_that_are_to_be_local_are() {
    let (inner, held) = (Arc::new(MemoryFileSystem::new()), Arc::<Mutex<Vec<Held>>>::default());
    let files = WithLocks { inner, client: 1, held: Arc::clone(&held) };
    let options = MountOptions { local_locks: true, ..MountOptions::default() };
    let Some(mount) = Mount::cached_with(Arc::new(files), &options) else { return };
    let [one, other] = [0, 1].map(|_| open(&mount));
    flock(&one, TRY_LOCK).expect("locked");
    assert_eq!(flock(&other, TRY_LOCK), Err(Errno::AGAIN));
    assert!(held.lock().is_empty());
    drop((one, other));
    mount.unmount();
}
