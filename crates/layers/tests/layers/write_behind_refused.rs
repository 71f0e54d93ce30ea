//! The write-behind when the server fails COMMITs of one file: its writers get the error, and other files go on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, Create, CreateFile, Data, FileLock, FileLocks, FileSystem,
    FsError, Handle, Name, NewAttributes, ReadFile, Result, Stability, WriteFile,
};

const ME: Caller = Caller::ROOT;
const BLOCK: usize = 4096;

/// A server that cannot make one file durable.
#[derive(Default)]
struct Refusing {
    inner: MemoryFileSystem,
    file: OnceLock<Handle>,
}

impl Layer for Refusing {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        match self.file.get() == Some(commit.node) {
            true => Err(FsError::Io),
            false => self.inner.commit(caller, commit, change),
        }
    }
}

#[test]
fn a_file_that_cannot_be_made_durable_keeps_no_other_from_being_written_and_its_writer_is_told() {
    let server = Arc::new(Refusing::default());
    let options =
        WriteBehindOptions { block: BLOCK, memory_budget: 8 * BLOCK, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&server) as _, options);
    let fs: &dyn FileSystem = &layer;
    let create = |name: &[u8]| {
        let name = Name::parse(name).expect("a name");
        let how = Create::Guarded(NewAttributes::default());
        fs.create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made").handle
    };
    let write = |node: &Handle, block: usize| {
        let (data, offset) = (Data::Bytes(&[1; BLOCK]), (block * BLOCK) as u64);
        fs.write(&ME, WriteFile::new(node, offset, data, Stability::Unstable), &mut Change::default())
            .map(|_| ())
    };
    let (refused, other) = (create(b"refused"), create(b"other"));
    server.file.set(refused).expect("once");
    (0..7).for_each(|block| write(&refused, block).expect("taken"));
    for block in 0..64 {
        write(&other, block).expect("taken");
        let held = layer.report().held;
        assert!(held <= 9 * BLOCK, "{held} bytes");
    }
    fs.commit(&ME, CommitFile::new(&other, 0, 0), &mut Change::default()).expect("committed");
    assert_eq!(write(&refused, 0), Err(FsError::Io), "reported by the next write");
    assert_eq!(write(&refused, 0), Ok(()), "and once");
}

/// A server whose verifier changes, as by a restart, and that cannot make anything durable until then.
#[derive(Default)]
struct Restarting {
    inner: MemoryFileSystem,
    has_restarted: AtomicBool,
    is_away: AtomicBool,
    unlocked: AtomicUsize,
}

impl Layer for Restarting {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if self.is_away.load(SeqCst) { Err(FsError::Delay) } else { run(&self.inner) }
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        if self.has_restarted.load(SeqCst) {
            self.inner.commit(caller, commit, change)?;
            return Ok(Committed { verifier: [9; 8] });
        }
        Err(if self.is_away.load(SeqCst) { FsError::Delay } else { FsError::Io })
    }

    fn file_locks(&self) -> Option<&dyn FileLocks> {
        Some(self)
    }

    fn lock_range(&self, _: &Caller, _: &Handle, _: u64, _: FileLock, _: bool) -> Result<Option<FileLock>> {
        Ok(None)
    }

    fn test_lock(&self, _: &Caller, _: &Handle, _: u64, _: FileLock) -> Result<Option<FileLock>> {
        Ok(None)
    }

    fn unlock_range(&self, _: &Caller, _: &Handle, _: u64, _: (u64, u64)) -> Result<()> {
        self.unlocked.fetch_add(1, SeqCst);
        Ok(())
    }
}

#[test]
fn data_that_cannot_be_made_durable_before_an_unlock_is_not_written_after_it() {
    // Written and not committed, gathered, or on its way when the server goes.
    for (size, is_away) in [(BLOCK, false), (BLOCK / 2, true), (BLOCK, true)] {
        let server = Arc::new(Restarting::default());
        let patience = Some(Duration::from_millis(100));
        let options = WriteBehindOptions { block: BLOCK, patience, ..WriteBehindOptions::default() };
        let layer = WriteBehind::around(Arc::clone(&server) as _, options);
        let fs: &dyn FileSystem = &layer;
        let (name, how) = (Name::parse(b"file").expect("a name"), Create::Guarded(NewAttributes::default()));
        let root = fs.root();
        let create = CreateFile::new(&root, name, &how);
        let file = fs.create(&ME, create, &mut Change::default()).expect("made").handle;
        server.is_away.store(is_away, SeqCst);
        let write = WriteFile::new(&file, 0, Data::Bytes(&[1; BLOCK][..size]), Stability::Unstable);
        fs.write(&ME, write, &mut Change::default()).expect("taken");
        fs.require_file_locks().expect("locks").unlock_range(&ME, &file, 1, FileLock::ALL).expect("unlocked");
        assert_eq!(server.unlocked.load(SeqCst), 1);
        // Another host locks and writes.
        let other = WriteFile::new(&file, 0, Data::Bytes(&[2; BLOCK][..size]), Stability::FileSync);
        server.inner.write(&ME, other, &mut Change::default()).expect("written");
        server.is_away.store(false, SeqCst);
        server.has_restarted.store(true, SeqCst);
        // What is on its way may keep the caller waiting longer than it is patient.
        let commit = || loop {
            match fs.commit(&ME, CommitFile::new(&file, 0, 0), &mut Change::default()) {
                Err(FsError::Delay) => {}
                outcome => break outcome.map(|_| ()),
            }
        };
        assert_eq!(commit(), Err(FsError::Io), "the next commit reports it ({size}, {is_away})");
        assert_eq!(commit(), Ok(()));
        drop(layer);
        let mut data = Vec::new();
        server.inner.read(&ME, ReadFile::new(&file, 0, size), &mut data).expect("read");
        assert!(data == vec![2; size], "{size} {is_away}");
    }
}

/// A server that reports an error of its disk once: its first COMMIT fails, and later ones succeed.
struct FailingOnce {
    inner: MemoryFileSystem,
    /// COMMITs that arrived, and those that succeeded.
    counts: Mutex<(usize, usize)>,
    changed: Condvar,
    /// The first COMMIT is answered after another one succeeded.
    answers_late: bool,
    first_arrived: Mutex<Sender<()>>,
}

impl FailingOnce {
    fn new(answers_late: bool) -> (Arc<Self>, Receiver<()>) {
        let (sender, receiver) = channel();
        let inner = MemoryFileSystem::default();
        let (counts, changed, first_arrived) = (Mutex::default(), Condvar::new(), Mutex::new(sender));
        (Arc::new(Self { inner, counts, changed, answers_late, first_arrived }), receiver)
    }
}

impl Layer for FailingOnce {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        let mut counts = self.counts.lock().expect("no panic");
        counts.0 += 1;
        if counts.0 == 1 {
            self.first_arrived.lock().expect("no panic").send(()).expect("awaited");
            while self.answers_late && counts.1 == 0 {
                counts = self.changed.wait(counts).expect("no panic");
            }
            return Err(FsError::Io);
        }
        let committed = self.inner.commit(caller, commit, change);
        counts.1 += 1;
        self.changed.notify_all();
        committed
    }
}

#[test]
fn an_error_of_a_commit_ahead_of_time_is_told_by_the_next_commit_and_once() {
    for (answers_late, flushes) in [(false, false), (false, true), (true, false), (true, true)] {
        let (server, first_arrived) = FailingOnce::new(answers_late);
        let options =
            WriteBehindOptions { block: BLOCK, memory_budget: 8 * BLOCK, ..WriteBehindOptions::default() };
        let layer = WriteBehind::around(Arc::clone(&server) as _, options);
        let fs: &dyn FileSystem = &layer;
        let (name, how) = (Name::parse(b"file").expect("a name"), Create::Guarded(NewAttributes::default()));
        let file = fs
            .create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
            .expect("made")
            .handle;
        let data = Data::Bytes(&[1; BLOCK]);
        fs.write(&ME, WriteFile::new(&file, 0, data, Stability::Unstable), &mut Change::default())
            .expect("taken");
        first_arrived.recv_timeout(Duration::from_secs(60)).expect("a COMMIT that no program asked for");
        // fsync is a COMMIT, and close is a flush.
        let commit = || match flushes {
            true => layer.flush(&ME, &file),
            false => fs.commit(&ME, CommitFile::new(&file, 0, 0), &mut Change::default()).map(|_| ()),
        };
        let case = format!("late: {answers_late}, by flush: {flushes}");
        assert_eq!(commit(), Err(FsError::Io), "{case}");
        assert_eq!(commit(), Ok(()), "{case}, once more");
        assert_eq!(layer.report().held, 0, "{case}");
    }
}

#[test]
fn other_writers_see_another_verifier_after_a_commit_ahead_of_time_failed() {
    let (server, first_arrived) = FailingOnce::new(false);
    let options =
        WriteBehindOptions { block: BLOCK, memory_budget: 8 * BLOCK, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&server) as _, options);
    let fs: &dyn FileSystem = &layer;
    let (name, how) = (Name::parse(b"file").expect("a name"), Create::Guarded(NewAttributes::default()));
    let file =
        fs.create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made").handle;
    let written = |content: &[u8; BLOCK]| {
        let data = Data::Bytes(content);
        fs.write(&ME, WriteFile::new(&file, 0, data, Stability::Unstable), &mut Change::default())
            .expect("taken")
            .verifier
    };
    let before = written(&[1; BLOCK]);
    first_arrived.recv_timeout(Duration::from_secs(60)).expect("a COMMIT that no program asked for");
    // Waits for the answer to the COMMIT ahead, and takes its error.
    assert_eq!(layer.flush(&ME, &file), Err(FsError::Io));
    assert_ne!(written(&[2; BLOCK]), before, "other clients write again what they did not commit");
}
