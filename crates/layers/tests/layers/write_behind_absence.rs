//! The write-behind of a relay while its server is away: callers do not wait for long, and nothing is lost.

use std::sync::Arc;
use std::time::Duration;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, Create, CreateFile, Data, FileSystem, FsError, Handle, Name,
    NewAttributes, ReadFile, Result, Stability, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex};

const ROOT: Caller = Caller::ROOT;
const BLOCK: usize = 4096;

/// What becomes of a WRITE while the server is away.
#[derive(Clone, Copy, PartialEq)]
enum Away {
    /// It was sent, and is answered when the server is back.
    Waits,
    /// It was not sent.
    Refuses,
}

/// A server that may be away.
struct Far {
    inner: MemoryFileSystem,
    away: Mutex<Option<Away>>,
    back: Condvar,
}

impl Far {
    fn new() -> Arc<Self> {
        let (inner, away, back) = (MemoryFileSystem::new(), Mutex::new(None), Condvar::new());
        Arc::new(Self { inner, away, back })
    }

    fn goes(&self, away: Away) {
        *self.away.lock() = Some(away);
    }

    fn comes_back(&self) {
        *self.away.lock() = None;
        self.back.notify_all();
    }
}

impl Layer for Far {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let mut away = self.away.lock();
        while let Some(how) = *away {
            if how == Away::Refuses {
                return Err(FsError::Delay);
            }
            self.back.wait(&mut away);
        }
        drop(away);
        self.inner.write(caller, write, change)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        if self.away.lock().is_some() {
            return Err(FsError::Delay);
        }
        self.inner.commit(caller, commit, change)
    }
}

fn around(far: &Arc<Far>) -> WriteBehind {
    let options = WriteBehindOptions {
        block: BLOCK,
        memory_budget: 8 * BLOCK,
        patience: Some(Duration::from_millis(50)),
        ..WriteBehindOptions::default()
    };
    WriteBehind::around(Arc::clone(far) as _, options)
}

fn create(fs: &dyn FileSystem) -> Handle {
    let name = Name::parse(b"file").expect("a name");
    let how = Create::Guarded(NewAttributes::default());
    fs.create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made").handle
}

fn write(fs: &dyn FileSystem, node: &Handle, offset: usize, data: &[u8]) -> Result<Written> {
    let (offset, data) = (offset as u64, Data::Bytes(data));
    fs.write(&ROOT, WriteFile::new(node, offset, data, Stability::Unstable), &mut Change::default())
}

fn commit(fs: &dyn FileSystem, node: &Handle) -> Result<Committed> {
    fs.commit(&ROOT, CommitFile::new(node, 0, 0), &mut Change::default())
}

/// Makes a call again as a client does that gets "not now".
fn insist<T>(mut call: impl FnMut() -> Result<T>) -> T {
    loop {
        match call() {
            Err(FsError::Delay) => std::thread::yield_now(),
            outcome => return outcome.expect("done"),
        }
    }
}

fn read(fs: &dyn FileSystem, node: &Handle) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let read = fs.read(&ROOT, ReadFile::new(node, 0, 1 << 20), &mut buffer)?;
    read.copied(&mut Vec::new()).map(|read| match read.content {
        howdah_vfs::Content::Bytes(bytes) => bytes.to_vec(),
        _ => buffer,
    })
}

#[test]
fn callers_are_told_to_come_again_and_nothing_is_lost() {
    for away in [Away::Waits, Away::Refuses] {
        let far = Far::new();
        let fs = around(&far);
        let node = create(&fs);
        far.goes(away);
        let data: Vec<u8> = (0..40 * BLOCK + 7).map(|at| (at / 5) as u8).collect();
        let mut parts = data.chunks(1000).enumerate().map(|(at, part)| (at * 1000, part));
        // So much is taken as there is memory for; the next part is not.
        let (refused, first) = parts
            .by_ref()
            .find_map(|(at, part)| match write(&fs, &node, at, part) {
                Ok(written) => {
                    assert_eq!(written.count, part.len());
                    None
                }
                Err(error) => Some((error, (at, part))),
            })
            .expect("there is more than memory holds");
        assert_eq!((refused, first.0 > BLOCK), (FsError::Delay, true));
        assert_eq!(read(&fs, &node).err(), Some(FsError::Delay));
        assert_eq!(commit(&fs, &node).err(), Some(FsError::Delay));
        far.comes_back();
        let verifiers: Vec<[u8; 8]> = std::iter::once(first)
            .chain(parts)
            .map(|(at, part)| insist(|| write(&fs, &node, at, part)).verifier)
            .collect();
        let committed = insist(|| commit(&fs, &node));
        assert!(
            verifiers.iter().all(|verifier| *verifier == committed.verifier),
            "nothing is reported as lost"
        );
        assert!(read(&far.inner, &node).expect("read") == data);
        assert_eq!(fs.report().held, 0);
    }
}

#[test]
fn a_small_file_that_could_not_be_made_durable_is_still_held() {
    let far = Far::new();
    let fs = around(&far);
    let node = create(&fs);
    let verifier = write(&fs, &node, 0, b"howdy").expect("taken").verifier;
    far.goes(Away::Refuses);
    assert_eq!(commit(&fs, &node).err(), Some(FsError::Delay));
    assert_eq!(commit(&fs, &node).err(), Some(FsError::Delay));
    far.comes_back();
    assert_eq!(insist(|| commit(&fs, &node)).verifier, verifier);
    assert_eq!(read(&far.inner, &node).expect("read"), b"howdy");
}

#[test]
fn who_lets_go_of_it_waits_until_all_is_written() {
    let far = Far::new();
    let fs = around(&far);
    let node = create(&fs);
    far.goes(Away::Refuses);
    write(&fs, &node, 0, b"howdy").expect("taken");
    let dropping = std::thread::spawn(move || drop(fs));
    far.comes_back();
    dropping.join().expect("dropped");
    assert_eq!(read(&far.inner, &node).expect("read"), b"howdy");
}
