//! The write-behind: who waits for data that was written waits for no more than that.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Create, CreateFile, Data, FileSystem, Name, NewAttributes, ReadFile, Result,
    Stability, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex};

const ROOT: Caller = Caller::ROOT;
const BLOCK: usize = 4096;
/// A machine that is busy takes no longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that serves those WRITEs that the test lets through.
#[derive(Default)]
struct Gated {
    inner: MemoryFileSystem,
    gate: Mutex<Gate>,
    news: Condvar,
}

/// Where WRITEs go that have come, and those that are let through.
#[derive(Default)]
struct Gate {
    came: BTreeSet<u64>,
    open: BTreeSet<u64>,
}

impl Gated {
    /// Waits until a WRITE has come.
    fn comes(&self, offset: usize) {
        let has_not = |gate: &mut Gate| !gate.came.contains(&(offset as u64));
        let waited = self.news.wait_while_for(&mut self.gate.lock(), has_not, PATIENCE);
        assert!(!waited.timed_out(), "the WRITE at {offset} did not come");
    }

    fn lets_through(&self, offsets: &[usize]) {
        self.gate.lock().open.extend(offsets.iter().map(|offset| *offset as u64));
        self.news.notify_all();
    }
}

impl Layer for Gated {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let mut gate = self.gate.lock();
        gate.came.insert(write.offset);
        self.news.notify_all();
        self.news.wait_while(&mut gate, |gate| !gate.open.contains(&write.offset));
        drop(gate);
        self.inner.write(caller, write, change)
    }
}

#[test]
fn a_commit_does_not_wait_for_data_that_came_after_it() {
    let server = Arc::new(Gated::default());
    let options = WriteBehindOptions { block: BLOCK, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&server) as _, options);
    let fs: &dyn FileSystem = &layer;
    let name = Name::parse(b"file").expect("a name");
    let how = Create::Guarded(NewAttributes::default());
    let node = fs
        .create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    let write = |offset: usize, data: &[u8]| {
        let (data, mut change) = (Data::Bytes(data), Change::default());
        fs.write(&ROOT, WriteFile::new(&node, offset as u64, data, Stability::Unstable), &mut change)
            .expect("taken");
    };
    let [first, gathered, later] = [0, 2 * BLOCK, 4 * BLOCK];
    write(first, &[1; BLOCK]);
    server.lets_through(&[first]);
    // Waits until it was written: there is something to commit.
    fs.read(&ROOT, ReadFile::new(&node, 0, 1), &mut Vec::new()).expect("read");
    write(gathered, b"less than a block");
    thread::scope(|scope| {
        let (done, is_done) = channel();
        let node = &node;
        scope.spawn(move || done.send(fs.commit(&ROOT, CommitFile::new(node, 0, 0), &mut Change::default())));
        // The COMMIT has begun: it sends what is gathered.
        server.comes(gathered);
        write(later, &[3; BLOCK]);
        server.lets_through(&[gathered]);
        let committed = is_done.recv_timeout(PATIENCE);
        server.lets_through(&[later]);
        assert!(committed.expect("it waits for no more than was there").is_ok());
    });
}

#[test]
fn less_than_a_block_is_sent_when_it_has_waited_long_enough() {
    let server = Arc::new(Gated::default());
    let gathered_for = Duration::from_millis(1);
    let options = WriteBehindOptions { block: BLOCK, gathered_for, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&server) as _, options);
    let fs: &dyn FileSystem = &layer;
    let name = Name::parse(b"file").expect("a name");
    let how = Create::Guarded(NewAttributes::default());
    let node = fs
        .create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    server.lets_through(&[0, 3]);
    for (offset, data) in [(0, b"how"), (3, b"dah")] {
        let (data, mut change) = (Data::Bytes(data), Change::default());
        fs.write(&ROOT, WriteFile::new(&node, offset as u64, data, Stability::Unstable), &mut change)
            .expect("taken");
        server.comes(offset);
    }
}
