//! Locks of two mounts of one file system, which keeps them for both: no two programs hold what excludes each other.

mod support;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::fs::FileExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use howdah_mount::MountOptions;
use howdah_needs::{Lack, skipped};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, FileLock, FileLocks, FileSystem, Handle, Result};
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, fcntl_lock, flock};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
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
    gate: Arc<Gate>,
}

/// Holds the answer to a lock call of a client back, as a slow server would.
#[derive(Default)]
struct Gate {
    /// The next call for a lock of the first client reports here, and waits for the other.
    next: Mutex<Option<(Sender<()>, Receiver<()>)>>,
    under_way: AtomicUsize,
    /// Calls of the first client that began while another one was under way.
    overlaps: AtomicUsize,
    /// Whether the last call of the first client waits for the lock, if there was one.
    waits: Mutex<Option<bool>>,
}

impl Gate {
    /// Holds the next call back: gives what says that it came, and what lets it go.
    fn hold(&self) -> (Receiver<()>, Sender<()>) {
        let ((came, comes), (go, goes)) = (channel(), channel());
        *self.next.lock() = Some((came, goes));
        (comes, go)
    }

    fn pass(&self, waits: bool) {
        *self.waits.lock() = Some(waits);
        if self.under_way.fetch_add(1, SeqCst) > 0 {
            self.overlaps.fetch_add(1, SeqCst);
        }
        let held = self.next.lock().take();
        if let Some((came, goes)) = held {
            came.send(()).expect("the test waits");
            let _ = goes.recv();
        }
        self.under_way.fetch_sub(1, SeqCst);
    }
}

/// What is left of a client's locks without these bytes of one of its owners.
fn cut(held: &mut Vec<Held>, whose: (u64, u64), node: &Handle, bytes: (u64, u64)) {
    let parts = |(its, file, lock): Held| -> Vec<Held> {
        let is_it = its == whose && file == *node;
        let parts = if is_it { lock.without(bytes).collect() } else { vec![lock] };
        parts.into_iter().map(|part| (its, file, part)).collect()
    };
    *held = held.drain(..).flat_map(parts).collect();
}

impl WithLocks {
    fn in_the_way(&self, held: &[Held], node: &Handle, owner: u64, wish: FileLock) -> Option<FileLock> {
        let is_in_the_way = |((client, its), file, lock): &&Held| {
            (*client, *its) != (self.client, owner)
                && file == node
                && (lock.exclusive || wish.exclusive)
                && (lock.first <= wish.last && lock.last >= wish.first)
        };
        held.iter().find(is_in_the_way).map(|(_, _, lock)| *lock)
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

    fn lock_range(
        &self,
        _: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
        waits: bool,
    ) -> Result<Option<FileLock>> {
        if self.client == 1 {
            self.gate.pass(waits);
        }
        // Both mounts ask at the same time: what is looked at and what is locked is one step.
        let mut held = self.held.lock();
        let conflict = self.in_the_way(&held, node, owner, lock);
        if conflict.is_none() {
            let whose = (self.client, owner);
            cut(&mut held, whose, node, (lock.first, lock.last));
            held.push((whose, *node, lock));
        }
        Ok(conflict)
    }

    fn test_lock(&self, _: &Caller, node: &Handle, owner: u64, lock: FileLock) -> Result<Option<FileLock>> {
        Ok(self.in_the_way(&self.held.lock(), node, owner, lock))
    }

    fn unlock_range(&self, _: &Caller, node: &Handle, owner: u64, bytes: (u64, u64)) -> Result<()> {
        cut(&mut self.held.lock(), (self.client, owner), node, bytes);
        Ok(())
    }
}

/// Two mounts of one server.
fn two() -> Option<[Mount; 2]> {
    two_with(&Arc::default(), &Arc::default())
}

/// The same, with what they hold, and what holds calls of the first one back.
fn two_with(held: &Arc<Mutex<Vec<Held>>>, gate: &Arc<Gate>) -> Option<[Mount; 2]> {
    let inner = Arc::new(MemoryFileSystem::new());
    let mount = |client| {
        let (inner, held, gate) = (Arc::clone(&inner), Arc::clone(held), Arc::clone(gate));
        Mount::cached_with(Arc::new(WithLocks { inner, client, held, gate }), &MountOptions::default())
    };
    Some([mount(1)?, mount(2)?])
}

/// A shell that has the file of a mount open as its descriptor 9, runs a script, and answers to each line that it is given.
struct Shell {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Shell {
    fn run(mount: &Mount, script: &str) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(mount.at("file")).expect("opened");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec 9<&0 </dev/null\n{script}\nexec sleep 600")]);
        let child = command.stdin(file).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("a shell");
        let output = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, output }
    }

    fn says(&mut self) -> String {
        self.output.next().expect("a line").expect("text")
    }

    /// It has stopped itself, and continues.
    fn wake(&self) {
        let process = Pid::from_child(&self.child);
        waitid(WaitId::Pid(process), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT).expect("stopped");
        kill_process(process, Signal::CONT).expect("woken");
    }

    /// Ends it, and so closes the file.
    fn end(self) {}
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("over");
    }
}

/// Whether there is the program flock(1), from util-linux.
fn has_flock() -> bool {
    let found = Command::new("flock").arg("--version").output();
    if let Err(error) = &found {
        skipped(Lack::Program, format_args!("flock: {error}"));
    }
    found.is_ok()
}

/// Waits until so much is locked.
fn until(held: &Mutex<Vec<Held>>, is_it: impl Fn(&[Held]) -> bool) {
    until_so(|| is_it(&held.lock()));
}

fn until_so(is_it: impl Fn() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(30);
    while !is_it() {
        assert!(Instant::now() < give_up, "it never came");
        thread::sleep(Duration::from_millis(5));
    }
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
fn the_server_learns_that_a_program_which_waited_was_killed() {
    let (held, gate) = (Arc::default(), Arc::<Gate>::default());
    let Some(mounts) = two_with(&held, &gate) else { return };
    if !has_flock() {
        return;
    }
    let other = open(&mounts[1]);
    flock(&other, LOCK).expect("locked");
    let shell = Shell::run(&mounts[0], "exec flock 9");
    until_so(|| *gate.waits.lock() == Some(true));
    shell.end();
    // The server keeps a turn for who waits, until a call that does not.
    until_so(|| *gate.waits.lock() == Some(false));
    flock(&other, UNLOCK).expect("unlocked");
    flock(&other, TRY_LOCK).expect("nobody has it");
    drop(other);
    mounts.into_iter().for_each(Mount::unmount);
}

/// Two calls of one lock owner: the first is given up while the server works on it, and is granted after that.
#[test]
fn a_lock_that_was_given_up_does_not_undo_a_later_one() {
    let (held, gate) = (Arc::default(), Arc::<Gate>::default());
    let Some(mounts) = two_with(&held, &gate) else { return };
    if !has_flock() {
        return;
    }
    drop(open(&mounts[0]));
    let (comes, go) = gate.hold();
    let mut shell = Shell::run(&mounts[0], "flock -w 0.2 9 || echo gave up\nflock 9 && echo locked");
    comes.recv().expect("the first call");
    assert_eq!(shell.says(), "gave up");
    // The second call must not overtake the first. The kernel hands it on within this time.
    thread::sleep(Duration::from_millis(200));
    assert_eq!(gate.overlaps.load(SeqCst), 0);
    go.send(()).expect("it waits");
    assert_eq!(shell.says(), "locked");
    let other = open(&mounts[1]);
    assert_eq!(flock(&other, TRY_LOCK), Err(Errno::AGAIN));
    shell.end();
    flock(&other, LOCK).expect("locked");
    drop(other);
    mounts.into_iter().for_each(Mount::unmount);
}

#[test]
fn an_upgrade_that_was_given_up_leaves_the_lock_that_was_there() {
    let (held, gate) = (Arc::<Mutex<Vec<Held>>>::default(), Arc::<Gate>::default());
    let Some(mounts) = two_with(&held, &gate) else { return };
    if !has_flock() {
        return;
    }
    drop(open(&mounts[0]));
    let script = "flock -s 9 && echo shared\nkill -STOP $$\nflock -w 0.2 -x 9 || echo gave up";
    let mut shell = Shell::run(&mounts[0], script);
    assert_eq!(shell.says(), "shared");
    let (comes, go) = gate.hold();
    shell.wake();
    comes.recv().expect("the upgrade");
    assert_eq!(shell.says(), "gave up");
    go.send(()).expect("it waits");
    let is = |exclusive: bool| move |held: &[Held]| held.len() == 1 && held[0].2.exclusive == exclusive;
    until(&held, is(false));
    let other = open(&mounts[1]);
    assert_eq!(flock(&other, TRY_LOCK), Err(Errno::AGAIN), "it is locked still");
    flock(&other, FlockOperation::NonBlockingLockShared).expect("and only shared");
    shell.end();
    flock(&other, LOCK).expect("locked");
    drop(other);
    mounts.into_iter().for_each(Mount::unmount);
}

#[test]
fn locks_that_are_to_be_local_are() {
    let (inner, held) = (Arc::new(MemoryFileSystem::new()), Arc::<Mutex<Vec<Held>>>::default());
    let files = WithLocks { inner, client: 1, held: Arc::clone(&held), gate: Arc::default() };
    let options = MountOptions { local_locks: true, ..MountOptions::default() };
    let Some(mount) = Mount::cached_with(Arc::new(files), &options) else { return };
    let [one, other] = [0, 1].map(|_| open(&mount));
    flock(&one, TRY_LOCK).expect("locked");
    assert_eq!(flock(&other, TRY_LOCK), Err(Errno::AGAIN));
    assert!(held.lock().is_empty());
    drop((one, other));
    mount.unmount();
}
