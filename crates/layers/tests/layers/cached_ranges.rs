//! Calls on ranges of files and on extended attributes, among data that is cached: what callers see, and what reaches the server.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_layers::{Cached, CachingOptions};
use howdah_random::Random;
use howdah_vfs::layer::{Call, Fault, FaultKind, FaultPlan, Faulty, Layer, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, Content, CopyRange, Create, CreateFile, Data, FileExtent,
    FileSystem, FsError, Handle, Name, NewAttributes, RangeOperations, ReadFile, Result, SeekTarget,
    SetAttributes, SetXattr, SetXattrMode, Stability, Timestamp, WriteFile, Written, XattrName,
};

const ME: Caller = Caller::ROOT;
const BLOCK: usize = 4096;
/// Where changes begin and how long they are: multiples of what can be cloned, and others.
const STEP: u64 = 2048;
const PLACES: u64 = 24;

fn cached(server: Arc<dyn FileSystem>) -> Cached {
    Cached::around(
        server,
        CachingOptions { read_size: BLOCK, write_size: BLOCK, ..CachingOptions::default() },
    )
}

fn create(fs: &dyn FileSystem, text: &str) -> Handle {
    let how = Create::Guarded(NewAttributes::default());
    let name = Name::parse(text.as_bytes()).expect("a name");
    fs.create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made").handle
}

fn write(fs: &dyn FileSystem, node: &Handle, offset: u64, data: &[u8]) {
    let (data, change) = (Data::Bytes(data), &mut Change::default());
    fs.write(&ME, WriteFile::new(node, offset, data, Stability::Unstable), change).expect("taken");
}

fn read(fs: &dyn FileSystem, node: &Handle, offset: u64, count: usize) -> Vec<u8> {
    let mut buffer = Vec::new();
    match fs.read(&ME, ReadFile { node, offset, count }, &mut buffer).expect("read").content {
        Content::Bytes(bytes) => bytes.to_vec(),
        _ => buffer,
    }
}

fn ranges(fs: &dyn FileSystem) -> &dyn RangeOperations {
    fs.ranges().expect("it has them")
}

fn size_and_change(fs: &dyn FileSystem, node: &Handle) -> (u64, Timestamp) {
    let attributes = fs.attributes(&ME, node).expect("there");
    (attributes.size, attributes.changed)
}

/// What was changed, for the line that a failing test prints.
fn change(fs: &dyn FileSystem, nodes: &[Handle; 2], seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut below = |end: u64| random.number() % end;
    let (kind, one, other) = (below(8), below(2) as usize, below(2) as usize);
    let (from, to, count) = (below(PLACES) * STEP, below(PLACES) * STEP, below(8) * STEP);
    let odd = below(100);
    let (node, source, changed) = (&nodes[one], &nodes[other], &mut Change::default());
    let ranges = ranges(fs);
    let outcome = match kind {
        0..=2 => {
            write(fs, node, to + odd, &vec![seed as u8 | 1; count as usize]);
            Ok(())
        }
        3 => ranges
            .copy_range(&ME, CopyRange::new((source, from + odd), (node, to), count + 1), changed)
            .map(drop),
        4 => ranges.clone_range(&ME, CopyRange::new((source, from), (node, to), count), changed),
        5 => ranges.deallocate(&ME, FileExtent::new(node, to + odd, count + 1), changed),
        6 => ranges.allocate(&ME, FileExtent::new(node, to + odd, count + 1), changed),
        _ => {
            let size = NewAttributes::with_size(to + count);
            fs.set_attributes(&ME, SetAttributes::new(node, &size, None), changed)
        }
    };
    let after = fs.attributes(&ME, node).map(|after| after.size);
    let size_after = changed.after.map(|after| after.size);
    let data = read(fs, source, from, BLOCK);
    if let Ok(found) = ranges.seek(&ME, source, from, SeekTarget::Data) {
        let hole = read(fs, source, from, (found.offset - from) as usize);
        assert!(hole.iter().all(|byte| *byte == 0), "seed {seed:#x}: data in a hole");
    }
    let sum = data.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    format!("{kind} {one} {other} {from} {to} {count} {odd}: {outcome:?} {after:?} {size_after:?} {sum}")
}

#[test]
fn what_ranges_hold_is_the_same_with_caches_and_without() {
    for seed in 0..150u64 {
        let subjects: [Arc<dyn FileSystem>; 2] =
            [Arc::new(MemoryFileSystem::new()), Arc::new(cached(Arc::new(MemoryFileSystem::new())))];
        let nodes = subjects.each_ref().map(|fs| ["one", "two"].map(|name| create(&**fs, name)));
        for step in 0..60 {
            let seen = [0, 1].map(|which| {
                let fs = &*subjects[which];
                let line = change(fs, &nodes[which], seed << 16 | step);
                (line, nodes[which].map(|node| read(fs, &node, 0, 1 << 20)))
            });
            assert_eq!(seen[0].0, seen[1].0, "seed {seed}, step {step}");
            assert!(seen[0].1 == seen[1].1, "seed {seed}, step {step}: {}: other data", seen[0].0);
        }
    }
}

#[test]
fn a_range_operation_sends_only_data_that_it_reads_or_replaces() {
    let server = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)));
    let fs = cached(Arc::clone(&server) as _);
    let [one, two] = ["one", "two"].map(|name| create(&fs, name));
    write(&fs, &one, 0, b"data");
    write(&fs, &two, 100, b"kept here");
    let calls = |call| server.snapshot().of(call).count;
    let copied = ranges(&fs).copy_range(&ME, CopyRange::new((&one, 0), (&two, 0), 4), &mut Change::default());
    assert_eq!(copied.map(|copied| (copied.count, copied.stability)), Ok((4, Stability::FileSync)));
    assert_eq!((calls(Call::Write), calls(Call::Commit)), (1, 1), "the source, and what was copied");
    assert_eq!(read(&*server, &two, 0, 100), b"data");
    assert_eq!(size_and_change(&fs, &two).0, 109);
    assert_eq!((calls(Call::Write), calls(Call::Attributes)), (1, 0));
    ranges(&fs).deallocate(&ME, FileExtent::new(&two, 102, 3), &mut Change::default()).expect("punched");
    assert_eq!(calls(Call::Write), 2, "what was to be written there is written first");
    assert_eq!(read(&fs, &two, 100, 20), b"ke\0\0\0here");
}

#[test]
fn data_that_was_replaced_is_not_written_again_when_the_server_loses_it() {
    let server = Arc::new(Lossy::default());
    let fs = cached(Arc::clone(&server) as _);
    let [one, two] = ["one", "two"].map(|name| create(&fs, name));
    // Two blocks: both are on the server, and not durable.
    write(&fs, &one, 0, &[1; 2 * BLOCK]);
    write(&fs, &two, 0, &[2; 2 * BLOCK]);
    ranges(&fs)
        .deallocate(&ME, FileExtent::new(&one, 0, BLOCK as u64), &mut Change::default())
        .expect("punched");
    server.restarts.fetch_add(1, SeqCst);
    ranges(&fs)
        .copy_range(&ME, CopyRange::new((&one, 0), (&two, 0), BLOCK as u64), &mut Change::default())
        .expect("copied");
    server.restarts.fetch_add(1, SeqCst);
    [one, two].iter().for_each(|node| fs.flush(&ME, node).expect("durable"));
    let expected = |rest: u8| [[0; BLOCK], [rest; BLOCK]].concat();
    assert!(read(&*server, &one, 0, 4 * BLOCK) == expected(1));
    assert!(read(&*server, &two, 0, 4 * BLOCK) == expected(2));
}

#[test]
fn what_was_copied_is_copied_again_when_the_server_lost_it() {
    let server = Arc::new(Lossy { restarts_in_copies: 2.into(), ..Lossy::default() });
    let fs = cached(Arc::clone(&server) as _);
    let [one, two] = ["one", "two"].map(|name| create(&fs, name));
    write(&fs, &one, 0, b"data");
    let copied = ranges(&fs).copy_range(&ME, CopyRange::new((&one, 0), (&two, 0), 4), &mut Change::default());
    assert_eq!(copied.map(|copied| copied.stability), Ok(Stability::FileSync));
    assert_eq!(server.copies.load(SeqCst), 3);
}

#[test]
fn what_the_server_lost_of_a_source_is_written_again_before_it_is_copied() {
    let server = Arc::new(Lossy::default());
    let fs = cached(Arc::clone(&server) as _);
    let [one, two] = ["one", "two"].map(|name| create(&fs, name));
    write(&fs, &one, 0, &[1; 2 * BLOCK]);
    server.lose();
    ranges(&fs)
        .copy_range(&ME, CopyRange::new((&one, 0), (&two, 0), 2 * BLOCK as u64), &mut Change::default())
        .expect("copied");
    [one, two].iter().for_each(|node| fs.flush(&ME, node).expect("durable"));
    assert!(read(&*server, &one, 0, 4 * BLOCK) == [1; 2 * BLOCK]);
    assert!(read(&*server, &two, 0, 4 * BLOCK) == [1; 2 * BLOCK]);
}

#[test]
fn an_error_of_data_that_was_taken_is_reported_as_by_a_write() {
    let kind = FaultKind::Refuse(FsError::NoSpace);
    let plan = FaultPlan::new(0, [Fault { call: Some(Call::Write), one_in: 1, kind }]);
    let fs = cached(Arc::new(Faulty::around(Arc::new(MemoryFileSystem::new()), plan)));
    let [one, two] = ["one", "two"].map(|name| create(&fs, name));
    write(&fs, &one, 0, b"data");
    let copy =
        || ranges(&fs).copy_range(&ME, CopyRange::new((&one, 0), (&two, 0), 4), &mut Change::default());
    assert_eq!(copy().map(|copied| copied.count), Err(FsError::NoSpace));
    assert_eq!(copy().map(|copied| copied.count), Err(FsError::NoSpace), "the writer does not know it yet");
    let more = WriteFile::new(&one, 0, Data::Bytes(b"more"), Stability::Unstable);
    assert_eq!(FileSystem::write(&fs, &ME, more, &mut Change::default()).map(|_| ()), Err(FsError::NoSpace));
    assert_eq!(copy().map(|copied| copied.count), Ok(0), "it is reported once, and the data is gone");
}

#[test]
fn an_extended_attribute_changes_what_is_known_of_its_node() {
    let server = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)));
    let fs = cached(Arc::clone(&server) as _);
    let node = create(&fs, "file");
    write(&fs, &node, 0, b"data");
    let (_, before) = size_and_change(&fs, &node);
    let name = XattrName::parse(b"a").expect("a name");
    let xattrs = FileSystem::xattrs(&fs).expect("it has them");
    xattrs
        .set_xattr(&ME, SetXattr::new(&node, name, b"1", SetXattrMode::Either), &mut Change::default())
        .expect("set");
    let (size, after) = size_and_change(&fs, &node);
    assert!(after >= before && size == 4);
    let calls = |call| server.snapshot().of(call).count;
    assert_eq!(
        (calls(Call::Attributes), calls(Call::Write)),
        (0, 0),
        "the answer says it, and data is not sent"
    );
    fs.flush(&ME, &node).expect("durable");
    assert_eq!(read(&*server, &node, 0, 9), b"data");
}

/// A server with another verifier after each restart, which makes nothing durable before a COMMIT.
#[derive(Default)]
struct Lossy {
    memory: MemoryFileSystem,
    restarts: AtomicU64,
    /// So many copies are followed by a restart.
    restarts_in_copies: AtomicU64,
    copies: AtomicU64,
    /// What was where others were written that are not committed.
    before: Mutex<Vec<Before>>,
}

/// What a write replaced: file, offset, size of the file, bytes.
type Before = (Handle, u64, u64, Vec<u8>);

impl Lossy {
    /// Starts again, without what is not committed.
    fn lose(&self) {
        self.restarts.fetch_add(1, SeqCst);
        let mut before = self.before.lock().expect("no panic");
        for (node, offset, size, bytes) in before.drain(..).rev() {
            write(&self.memory, &node, offset, &bytes);
            let new = NewAttributes::with_size(size);
            let set = SetAttributes::new(&node, &new, None);
            self.memory.set_attributes(&ME, set, &mut Change::default()).expect("cut");
        }
    }

    fn verifier(&self) -> [u8; 8] {
        self.restarts.load(SeqCst).to_be_bytes()
    }

    fn unstable(&self, written: Written) -> Written {
        Written { stability: Stability::Unstable, verifier: self.verifier(), ..written }
    }
}

impl Layer for Lossy {
    fn inner(&self) -> &dyn FileSystem {
        &self.memory
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.memory)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let (bytes, size) =
            (read(&self.memory, node, offset, 1 << 20), size_and_change(&self.memory, node).0);
        self.before.lock().expect("no panic").push((*node, offset, size, bytes));
        let written = self.memory.write(caller, WriteFile { node, offset, data, stability }, change)?;
        Ok(if stability == Stability::Unstable { self.unstable(written) } else { written })
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let written = self.unstable(ranges(&self.memory).copy_range(caller, copy, change)?);
        self.copies.fetch_add(1, SeqCst);
        let restarts = self.restarts_in_copies.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        self.restarts.fetch_add(restarts.is_ok().into(), SeqCst);
        Ok(written)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.memory.commit(caller, commit, change)?;
        self.before.lock().expect("no panic").retain(|(node, ..)| node != commit.node);
        Ok(Committed { verifier: self.verifier() })
    }
}
