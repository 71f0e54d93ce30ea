//! The read-ahead: what it fetches, and that what it gives is what is there.

use std::sync::Arc;
use std::time::Duration;

use howdah_layers::{ReadAhead, ReadAheadOptions};
use howdah_tune::flight::Expected;
use howdah_vfs::layer::{Call, Delayed, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Content, Create, CreateFile, Data, FileSystem, Handle, Name, NewAttributes, ReadFile,
    SetAttributes, Stability, WriteFile,
};

const ROOT: Caller = Caller::ROOT;
const BLOCK: usize = 4096;
const BLOCKS: usize = 64;

fn write(fs: &dyn FileSystem, node: &Handle, offset: usize, data: &[u8]) {
    let (mut change, data) = (Change::default(), Data::Bytes(data));
    fs.write(&ROOT, WriteFile::new(node, offset as u64, data, Stability::Unstable), &mut change)
        .expect("written");
}

fn read(fs: &dyn FileSystem, node: &Handle, offset: usize, count: usize) -> (Vec<u8>, bool) {
    let mut buffer = Vec::new();
    let read = fs.read(&ROOT, ReadFile::new(node, offset as u64, count), &mut buffer).expect("read");
    if let Content::Bytes(bytes) = &read.content {
        assert!(buffer.is_empty());
        buffer.extend_from_slice(bytes);
    }
    (buffer, read.end)
}

fn counted() -> Arc<Metered> {
    Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)))
}

/// Makes a file of some blocks.
fn fill(inner: &dyn FileSystem) -> (Handle, Vec<u8>) {
    let how = Create::Unchecked(NewAttributes::default());
    let name = Name::parse(b"file").expect("a name");
    let node = inner
        .create(&ROOT, CreateFile::new(&inner.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    let content: Vec<u8> = (0..BLOCK * BLOCKS + 100).map(|at| (at / 7) as u8).collect();
    write(inner, &node, 0, &content);
    (node, content)
}

#[test]
fn what_a_path_is_expected_to_take_is_read_ahead_from_the_first_read_on() {
    let expected = Expected { bytes_per_second: 100 * BLOCK as u64, latency: Duration::from_secs(1) };
    for (expected, ahead) in [(None, 2), (Some(expected), 100)] {
        let options = ReadAheadOptions { block: BLOCK, expected, ..ReadAheadOptions::default() };
        assert_eq!(ReadAhead::around(counted() as _, options).report().ahead, ahead);
    }
}

/// That file behind a read-ahead, the reads that reach the file system counted, each of which takes `delay`.
fn ahead(delay: Duration) -> (ReadAhead, Arc<Metered>, Handle, Vec<u8>) {
    let metered = counted();
    let (node, content) = fill(&*metered);
    let far = Delayed::around(Arc::clone(&metered) as _, delay, Arc::new(std::thread::sleep));
    let options = ReadAheadOptions { block: BLOCK, ..ReadAheadOptions::default() };
    (ReadAhead::around(Arc::new(far), options), metered, node, content)
}

#[test]
fn a_sequence_is_answered_from_what_was_fetched_and_each_block_is_fetched_once() {
    for step in [BLOCK, 1000, 3 * BLOCK] {
        let (fs, metered, node, content) = ahead(Duration::from_millis(1));
        let (mut at, mut seen) = (0, Vec::new());
        loop {
            let (bytes, end) = read(&fs, &node, at, step);
            at += bytes.len();
            seen.extend(bytes);
            if end {
                break;
            }
        }
        assert!(seen == content, "steps of {step}");
        let report = fs.report();
        assert!(report.hits > report.misses, "steps of {step}: {report:?}");
        assert!(report.fetched <= BLOCKS as u64 + 1, "steps of {step}: {report:?}");
        // The others are of blocks that no fetch had been started for when they were wanted.
        let reads = metered.snapshot().of(Call::Read).count;
        assert!(
            reads <= report.fetched + report.misses + report.hits,
            "steps of {step}: {reads} reads, {report:?}"
        );
    }
}

#[test]
fn a_small_file_is_read_once() {
    let (fs, metered, _, _) = ahead(Duration::ZERO);
    let how = Create::Unchecked(NewAttributes::default());
    let name = Name::parse(b"small").expect("a name");
    let node = fs
        .create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    write(&fs, &node, 0, b"small");
    assert_eq!(read(&fs, &node, 0, BLOCK), (b"small".to_vec(), true));
    assert_eq!((metered.snapshot().of(Call::Read).count, fs.report().fetched), (1, 0));
}

#[test]
fn what_is_written_through_it_is_read_through_it() {
    let (fs, _, node, mut content) = ahead(Duration::ZERO);
    for round in 0..10_u8 {
        let at = usize::from(round) * 3 * BLOCK;
        assert!(read(&fs, &node, at, BLOCK).0 == content[at..at + BLOCK]);
        let next = at + BLOCK;
        content[next..next + 10].fill(round);
        write(&fs, &node, next, &[round; 10]);
        assert!(read(&fs, &node, next, BLOCK).0 == content[next..next + BLOCK], "round {round}");
    }
}

#[test]
fn others_may_not_read_what_was_fetched_for_one_who_may() {
    let (fs, _, node, _) = ahead(Duration::ZERO);
    let mode = NewAttributes::with_mode(0o600);
    fs.set_attributes(&ROOT, SetAttributes::new(&node, &mode, None), &mut Change::default()).expect("set");
    read(&fs, &node, 0, BLOCK);
    read(&fs, &node, BLOCK, BLOCK);
    let other = Caller::new(1000, 1000);
    let refused = fs.read(&other, ReadFile::new(&node, 2 * BLOCK as u64, BLOCK), &mut Vec::new());
    assert_eq!(refused.map(|_| ()), Err(howdah_vfs::FsError::AccessDenied));
}

/// Fetches that wait until the test lets them go on, and how many wait.
#[derive(Default)]
struct Gate {
    state: parking_lot::Mutex<(usize, bool)>,
    changed: parking_lot::Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock();
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            self.changed.wait(&mut state);
        }
        state.0 -= 1;
    }

    fn wait_for(&self, waiting: usize) {
        let mut state = self.state.lock();
        while state.0 < waiting {
            self.changed.wait(&mut state);
        }
    }

    fn set(&self, open: bool) {
        self.state.lock().1 = open;
        self.changed.notify_all();
    }
}

#[test]
fn small_reads_keep_many_large_fetches_in_flight() {
    let (metered, gate) = (counted(), Arc::new(Gate::default()));
    let (node, content) = fill(&*metered);
    let far = Arc::clone(&gate);
    let far = Delayed::around(Arc::clone(&metered) as _, Duration::ZERO, Arc::new(move |_| far.pass()));
    // So that not all of the file is here before the gate is shut.
    let options = ReadAheadOptions { block: BLOCK, in_flight: 4, ..ReadAheadOptions::default() };
    let fs = ReadAhead::around(Arc::new(far), options);
    gate.set(true);
    let (mut at, step) = (0, BLOCK / 8);
    // What the path takes is learnt from fetches that were answered.
    while at < 16 * BLOCK {
        assert!(read(&fs, &node, at, step).0 == content[at..at + step]);
        at += step;
    }
    assert!(fs.report().depth >= 2, "{:?}", fs.report());
    gate.set(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while at < 40 * BLOCK {
                assert!(read(&fs, &node, at, step).0 == content[at..at + step]);
                at += step;
            }
        });
        gate.wait_for(2);
        gate.set(true);
        reader.join().expect("read");
    });
}

#[test]
fn reads_that_overtake_each_other_are_answered_from_blocks_that_are_fetched_once() {
    let (fs, metered, node, content) = ahead(Duration::ZERO);
    let step = BLOCK / 8;
    let before = metered.snapshot().of(Call::Read).count;
    // Eight at a time, backwards.
    for group in 0..BLOCKS {
        for part in (0..8).rev() {
            let at = group * BLOCK + part * step;
            assert!(read(&fs, &node, at, step).0 == content[at..at + step], "at {at}");
        }
    }
    let reads = metered.snapshot().of(Call::Read).count - before;
    assert!(reads <= BLOCKS as u64 + 2 * 8, "{reads} reads of {BLOCKS} blocks");
}

#[test]
fn a_file_that_others_change_is_not_given_as_it_was() {
    let (fs, metered, node, _) = ahead(Duration::ZERO);
    read(&fs, &node, 0, BLOCK);
    read(&fs, &node, BLOCK, BLOCK);
    write(&*metered, &node, 2 * BLOCK, &[7; BLOCK]);
    FileSystem::attributes(&fs, &ROOT, &node).expect("attributes");
    assert_eq!(read(&fs, &node, 2 * BLOCK, BLOCK).0, [7; BLOCK]);
}

#[test]
fn for_how_long_a_file_is_believed_can_be_changed() {
    let metered = counted();
    let (node, content) = fill(&*metered);
    let options = ReadAheadOptions { block: BLOCK, believed: Duration::MAX, ..ReadAheadOptions::default() };
    let ahead = ReadAhead::around(Arc::clone(&metered) as _, options);
    let read_all = || {
        let got: Vec<u8> =
            (0..BLOCKS).flat_map(|block| read(&ahead, &node, block * BLOCK, BLOCK).0).collect();
        assert!(got == content[..BLOCK * BLOCKS]);
        metered.snapshot().of(Call::Attributes).count
    };
    assert_eq!((read_all(), read_all()), (0, 0));
    ahead.believe_for(Duration::ZERO);
    assert!(read_all() > 0, "each block asks");
}
