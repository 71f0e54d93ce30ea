//! Writes that are answered as durable are: nobody commits them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Delayed, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, Create, CreateFile, Data, FileSystem, Name, NewAttributes, Result,
    Stability, WriteFile, Written,
};
use parking_lot::Mutex;

const ROOT: Caller = Caller::ROOT;
const BLOCK: usize = 1 << 20;
const BLOCKS: usize = 384;
/// So many writes under way: more than the path holds twice.
const WRITERS: usize = 96;
/// A round trip, and what the line takes for a block.
const ROUND_TRIP: Duration = Duration::from_millis(10);
const ON_THE_LINE: Duration = Duration::from_micros(500);

/// A far server, which knows which blocks a COMMIT has made durable.
#[derive(Default)]
struct Far {
    inner: MemoryFileSystem,
    line: Mutex<()>,
    unstable: Mutex<Vec<usize>>,
    durable: Mutex<Vec<bool>>,
}

impl Layer for Far {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn write(
        &self,
        _: &Caller,
        WriteFile { offset, data, stability, .. }: WriteFile<'_>,
        _: &mut Change,
    ) -> Result<Written> {
        {
            let _line = self.line.lock();
            thread::sleep(ON_THE_LINE);
        }
        self.unstable.lock().push(usize::try_from(offset).expect("small") / BLOCK);
        Ok(Written { count: data.len(), stability, verifier: [1; 8] })
    }

    fn commit(&self, _: &Caller, _: CommitFile<'_>, _: &mut Change) -> Result<Committed> {
        let mut durable = self.durable.lock();
        durable.resize(BLOCKS, false);
        self.unstable.lock().drain(..).for_each(|block| durable[block] = true);
        Ok(Committed { verifier: [1; 8] })
    }
}

/// Writes all blocks, and gives how many were answered as durable.
fn stream(far: &Arc<Far>, waiting_answers: usize) -> usize {
    let slow = Delayed::around(Arc::clone(far) as _, ROUND_TRIP, Arc::new(thread::sleep));
    let options = WriteBehindOptions { waiting_answers, ..WriteBehindOptions::default() };
    let fs = WriteBehind::around(Arc::new(slow), options);
    let name = Name::parse(b"file").expect("a name");
    let how = Create::Unchecked(NewAttributes::default());
    let fs: &dyn FileSystem = &fs;
    let node = fs
        .create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    let (next, durable) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let data = bytes::Bytes::from(vec![7; BLOCK]);
    let write = || {
        loop {
            let block = next.fetch_add(1, Ordering::SeqCst);
            if block >= BLOCKS {
                return;
            }
            let (offset, data) = ((block * BLOCK) as u64, Data::Shared(data.clone()));
            let change = &mut Change::default();
            let written = fs
                .write(&ROOT, WriteFile::new(&node, offset, data, Stability::Unstable), change)
                .expect("taken");
            if written.stability == Stability::FileSync {
                assert!(far.durable.lock()[block], "block {block} was answered as durable");
                durable.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    thread::scope(|scope| (0..WRITERS).for_each(|_| drop(scope.spawn(write))));
    fs.commit(&ROOT, CommitFile::new(&node, 0, 0), &mut Change::default()).expect("safe");
    assert!(far.durable.lock().iter().all(|durable| *durable));
    durable.into_inner()
}

#[test]
fn a_client_with_much_to_commit_is_told_what_is_durable() {
    let answered = stream(&Arc::default(), 128);
    assert!(answered > BLOCKS / 8, "{answered} of {BLOCKS} blocks");
}

#[test]
fn where_nobody_wants_that_answers_do_not_wait() {
    assert_eq!(stream(&Arc::default(), 0), 0);
}
