//! Copies to where the writes of a file wait for each other: one worker writes what the others read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_copy::CopyOptions;
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, FsError, Node, Result};
use parking_lot::{Condvar, Mutex};

use crate::copying::random::{Random, seed};
use crate::copying::tree::Files;
use crate::copying::{copy, with_writer};

/// Nothing here takes long; this is for machines that are busy.
const DEADLINE: Duration = Duration::from_secs(30);
const BLOCK: usize = 64 * 1024;

/// What passes between a source and a destination.
#[derive(Default)]
struct Traffic {
    seen: Mutex<Seen>,
    changed: Condvar,
}

#[derive(Default, Clone, Copy)]
struct Seen {
    reads: usize,
    writing: usize,
    most_writing: usize,
    writes: usize,
    most_waiting: usize,
}

impl Traffic {
    /// Waits until that is seen; says whether it came.
    fn wait_until(&self, is_so: impl Fn(&Seen) -> bool) -> bool {
        let (mut seen, until) = (self.seen.lock(), Instant::now() + DEADLINE);
        while !is_so(&seen) {
            if self.changed.wait_until(&mut seen, until).timed_out() {
                return false;
            }
        }
        true
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock());
        self.changed.notify_all();
    }
}

/// A source that counts.
struct Source(Arc<dyn FileSystem>, Arc<Traffic>);

impl Layer for Source {
    fn inner(&self) -> &dyn FileSystem {
        &*self.0
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let outcome = run(&*self.0);
        if call == Call::Read {
            self.1.note(|seen| {
                seen.reads += 1;
                seen.most_waiting = seen.most_waiting.max(seen.reads.saturating_sub(seen.writes));
            });
        }
        outcome
    }
}

/// A destination that counts; what it does at each write is given.
struct Destination<F> {
    inner: Arc<dyn FileSystem>,
    traffic: Arc<Traffic>,
    at_write: F,
}

impl<F: Fn(usize) -> Result<()> + Send + Sync> Layer for Destination<F> {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call != Call::Write {
            return run(&*self.inner);
        }
        let mut number = 0;
        self.traffic.note(|seen| {
            seen.writing += 1;
            seen.most_writing = seen.most_writing.max(seen.writing);
            seen.writes += 1;
            number = seen.writes;
        });
        let outcome = (self.at_write)(number).and_then(|()| run(&*self.inner));
        self.traffic.note(|seen| seen.writing -= 1);
        outcome
    }
}

fn file(traffic: &Arc<Traffic>, blocks: usize, random: &mut Random) -> (Files, Node) {
    let memory = Files(Arc::new(MemoryFileSystem::new()));
    let bytes = random.bytes(blocks * BLOCK);
    let file = memory.file(&memory.root().handle, "big", bytes.len() as u64, &[(0, bytes)]);
    (Files(Arc::new(Source(memory.0, Arc::clone(traffic)))), file)
}

fn destination(
    traffic: &Arc<Traffic>,
    at_write: impl Fn(usize) -> Result<()> + Send + Sync + 'static,
) -> (Files, Files) {
    let memory: Arc<dyn FileSystem> = Arc::new(MemoryFileSystem::new());
    let (inner, traffic) = (Arc::clone(&memory), Arc::clone(traffic));
    (Files(Arc::new(Destination { inner, traffic, at_write })), Files(memory))
}

/// Without a journal, whose records are writes too.
fn options(one_writer: bool, jobs: usize) -> CopyOptions {
    let mut options = CopyOptions { jobs: Some(jobs), ..with_writer(one_writer) };
    options.tuning.journal_from = u64::MAX;
    options
}

#[test]
fn one_writes_while_the_others_read_on_up_to_a_bound() {
    const JOBS: usize = 4;
    /// What may wait, one for each reader who waits to put it in, and what is being written.
    const MOST: usize = 4 + (JOBS - 1) + 1;
    let mut random = Random::new(seed("one_writes_while_the_others_read_on_up_to_a_bound"));
    let traffic = Arc::new(Traffic::default());
    let (from, node) = file(&traffic, 100, &mut random);
    let watched = Arc::clone(&traffic);
    // The first write ends when as much waits as may.
    let (to, memory) = destination(&traffic, move |number| {
        let goes_on = number > 1 || watched.wait_until(|seen| seen.reads == MOST);
        if goes_on { Ok(()) } else { Err(FsError::TimedOut) }
    });
    let (outcome, heard) = copy(&from, node, &to, "copy", options(true, JOBS));
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert!(memory.content(&memory.at("copy")) == from.content(&node));
    let seen = *traffic.seen.lock();
    assert_eq!((seen.most_writing, seen.writes), (1, 100));
    // A write counts from its beginning.
    assert!(seen.most_waiting <= MOST, "{}", seen.most_waiting);
}

#[test]
fn many_write_where_writes_do_not_wait_for_each_other() {
    let mut random = Random::new(seed("many_write_where_writes_do_not_wait_for_each_other"));
    let traffic = Arc::new(Traffic::default());
    let (from, node) = file(&traffic, 20, &mut random);
    let watched = Arc::clone(&traffic);
    let (to, memory) = destination(&traffic, move |number| {
        let goes_on = number > 1 || watched.wait_until(|seen| seen.most_writing >= 2);
        if goes_on { Ok(()) } else { Err(FsError::TimedOut) }
    });
    let (outcome, heard) = copy(&from, node, &to, "copy", options(false, 4));
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert!(memory.content(&memory.at("copy")) == from.content(&node));
}

#[test]
fn a_write_that_fails_in_the_middle_is_told_once_and_the_next_copy_goes_on() {
    const BLOCKS: usize = 40;
    let mut random =
        Random::new(seed("a_write_that_fails_in_the_middle_is_told_once_and_the_next_copy_goes_on"));
    for round in 0..10 {
        // One worker commits between two blocks; of several, the one that commits may do so after all the others have written.
        let jobs = (round % 2 == 0).then_some(1);
        let traffic = Arc::new(Traffic::default());
        let (from, node) = file(&traffic, BLOCKS, &mut random);
        // Some way behind the first commit, and not the last.
        let full = 15 + random.below(20) as usize;
        let (to, memory) =
            destination(&traffic, move |number| if number >= full { Err(FsError::NoSpace) } else { Ok(()) });
        let (outcome, heard) = copy(&from, node, &to, "copy", CopyOptions { jobs, ..with_writer(true) });
        assert_eq!((outcome.figures.errors, outcome.figures.files), (1, 0), "{:?}", heard.all());
        // It may be a write of the journal.
        assert!(heard.has("failed cannot write ") && heard.has("/there/copy:"), "{:?}", heard.all());
        assert!(memory.look(&memory.root().handle, "copy").is_none());
        let left = memory.names(&memory.root().handle);
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(left.iter().all(|name| heard.has(&format!("/there/{name}"))), "{:?}", heard.all());
        assert!(heard.has("free space there and run the same command again to resume"), "{:?}", heard.all());
        let (again, heard) = copy(&from, node, &memory, "copy", with_writer(true));
        assert_eq!(again.figures.errors, 0, "{:?}", heard.all());
        let goes_on = again.figures.resumed_bytes > 0 && again.figures.copied_bytes < (BLOCKS * BLOCK) as u64;
        assert!(goes_on || jobs.is_none(), "{:?}", again.figures);
        assert!(memory.content(&memory.at("copy")) == from.content(&node));
        assert_eq!(memory.names(&memory.root().handle), ["copy"]);
    }
}

#[test]
fn a_read_that_fails_in_the_middle_leaves_what_others_read_to_be_written() {
    /// Refuses one READ.
    struct Broken(Arc<dyn FileSystem>, Mutex<usize>);
    impl Layer for Broken {
        fn inner(&self) -> &dyn FileSystem {
            &*self.0
        }
        fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
            if call == Call::Read {
                let mut left = self.1.lock();
                *left = left.wrapping_sub(1);
                if *left == 0 {
                    return Err(FsError::Io);
                }
            }
            run(&*self.0)
        }
    }
    let mut random =
        Random::new(seed("a_read_that_fails_in_the_middle_leaves_what_others_read_to_be_written"));
    for _ in 0..10 {
        let traffic = Arc::new(Traffic::default());
        let (from, node) = file(&traffic, 40, &mut random);
        let broken = Files(Arc::new(Broken(Arc::clone(&from.0), Mutex::new(20 + random.below(20) as usize))));
        let to = Files(Arc::new(MemoryFileSystem::new()));
        let (outcome, heard) = copy(&broken, node, &to, "copy", with_writer(true));
        assert_eq!((outcome.figures.errors, outcome.figures.files), (1, 0), "{:?}", heard.all());
        assert!(heard.has("failed cannot read copy"), "{:?}", heard.all());
        let (again, heard) = copy(&broken, node, &to, "copy", with_writer(true));
        assert_eq!(again.figures.errors, 0, "{:?}", heard.all());
        assert!(again.figures.resumed_bytes > 0);
        assert!(to.content(&to.at("copy")) == from.content(&node));
    }
}
