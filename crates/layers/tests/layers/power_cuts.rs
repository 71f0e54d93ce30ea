//! A server that loses power and refuses writes at random, under writers through all caches: what fsync promised is there, and
//! what was lost was reported.

use std::collections::HashMap;
use std::sync::Arc;

use howdah_layers::{Cached, CachingOptions};
use howdah_random::Random;
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, Content, Create, CreateFile, Data, FileSystem, FsError, Handle,
    Name, NewAttributes, ReadFile, Result, SetAttributes, Stability, WriteFile, Written,
};
use parking_lot::Mutex;

const ROOT: Caller = Caller::ROOT;
const BLOCK: usize = 512;
/// The longest a file gets.
const LENGTH: usize = 16 * BLOCK;
const OPERATIONS: usize = 400;
const ROUNDS: u64 = 12;

/// Keeps unstable data until the power goes. One call in so many loses power before it, and one write in so many is refused.
struct Mortal {
    inner: MemoryFileSystem,
    fate: Mutex<Fate>,
    cut_in: u64,
    refused_in: u64,
}

struct Fate {
    random: Random,
    run: u64,
    /// What survives, by file.
    stable: HashMap<Handle, Vec<u8>>,
}

impl Mortal {
    fn new(seed: u64, cut_in: u64, refused_in: u64) -> Self {
        let fate = Fate { random: Random::new(seed), run: 1, stable: HashMap::new() };
        Self { inner: MemoryFileSystem::new(), fate: Mutex::new(fate), cut_in, refused_in }
    }

    fn verifier(fate: &Fate) -> [u8; 8] {
        fate.run.to_be_bytes()
    }

    fn cut(&self, fate: &mut Fate) {
        fate.run += 1;
        for (node, content) in &fate.stable {
            let size = NewAttributes::with_size(0);
            self.inner
                .set_attributes(&ROOT, SetAttributes::new(node, &size, None), &mut Change::default())
                .expect("cut");
            write(&self.inner, node, 0, content).expect("restored");
        }
    }

    fn perhaps_cut(&self, fate: &mut Fate) {
        if self.cut_in > 0 && fate.random.below(self.cut_in) == 0 {
            self.cut(fate);
        }
    }
}

impl Layer for Mortal {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let mut fate = self.fate.lock();
        self.perhaps_cut(&mut fate);
        run(&self.inner)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, mut data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let mut fate = self.fate.lock();
        self.perhaps_cut(&mut fate);
        if self.refused_in > 0 && fate.random.below(self.refused_in) == 0 {
            return Err(FsError::NoSpace);
        }
        let bytes = data.bytes().map_err(|_| FsError::Io)?.to_vec();
        // Some servers take less than they are given.
        let count = if fate.random.below(4) == 0 { bytes.len().div_ceil(2) } else { bytes.len() };
        let bytes = &bytes[..count];
        self.inner.write(caller, WriteFile::new(node, offset, Data::Bytes(bytes), stability), change)?;
        let stable = fate.stable.entry(*node).or_default();
        if stability != Stability::Unstable {
            put(stable, usize::try_from(offset).expect("small"), bytes);
        }
        Ok(Written { count, stability, verifier: Self::verifier(&fate) })
    }

    fn commit(
        &self,
        _: &Caller,
        CommitFile { node, .. }: CommitFile<'_>,
        _: &mut Change,
    ) -> Result<Committed> {
        let mut fate = self.fate.lock();
        self.perhaps_cut(&mut fate);
        let content = content(&self.inner, node);
        fate.stable.insert(*node, content);
        Ok(Committed { verifier: Self::verifier(&fate) })
    }
}

fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    content.resize(content.len().max(offset + bytes.len()), 0);
    content[offset..offset + bytes.len()].copy_from_slice(bytes);
}

fn write(fs: &dyn FileSystem, node: &Handle, mut offset: usize, mut data: &[u8]) -> Result<()> {
    while !data.is_empty() {
        let (mut change, all) = (Change::default(), Data::Bytes(data));
        let written =
            fs.write(&ROOT, WriteFile::new(node, offset as u64, all, Stability::Unstable), &mut change)?;
        (offset, data) = (offset + written.count, &data[written.count..]);
    }
    Ok(())
}

fn content(fs: &dyn FileSystem, node: &Handle) -> Vec<u8> {
    let mut buffer = Vec::new();
    let read = fs.read(&ROOT, ReadFile::new(node, 0, 2 * LENGTH), &mut buffer).expect("read");
    match read.content {
        Content::Bytes(bytes) => bytes.to_vec(),
        _ => buffer,
    }
}

/// What a file must hold; `None`: what it holds there nobody promised.
#[derive(Default)]
struct Model {
    bytes: Vec<Option<u8>>,
    /// What was written since the last fsync that succeeded.
    since: Vec<std::ops::Range<usize>>,
}

impl Model {
    fn write(&mut self, range: std::ops::Range<usize>, value: u8) {
        self.bytes.resize(self.bytes.len().max(range.end), Some(0));
        self.bytes[range.clone()].fill(Some(value));
        self.since.push(range);
    }

    /// An error was reported: of what was written since the last fsync, anything may be missing.
    fn doubt(&mut self) {
        for range in &self.since {
            self.bytes[range.clone()].fill(None);
        }
    }

    fn assert_is(&self, content: &[u8], context: &str) {
        for (at, byte) in self.bytes.iter().enumerate() {
            if let Some(byte) = byte {
                assert_eq!(content.get(at).copied().unwrap_or(0), *byte, "{context}: byte {at}");
            }
        }
    }
}

#[allow(clippy::print_stderr, reason = "a test that fails is repeated with its seed")]
fn campaign(seed: u64, cut_in: u64, refused_in: u64) {
    eprintln!("seed {seed:#x}, a power cut in {cut_in} calls, a refusal in {refused_in}");
    let server = Arc::new(Mortal::new(seed, cut_in, refused_in));
    let options = CachingOptions {
        read_size: BLOCK,
        write_size: BLOCK,
        // Little enough that writers wait, and COMMITs are made ahead.
        memory_budget: 2 * 6 * BLOCK,
        ..CachingOptions::default()
    };
    let fs = Arc::new(Cached::around(Arc::clone(&server) as _, options));
    std::thread::scope(|scope| {
        for number in 0..3_u64 {
            let (fs, server) = (&*fs, &*server);
            scope.spawn(move || one_file(fs, server, seed * 3 + number, refused_in > 0));
        }
    });
    assert_eq!(fs.report().writing.held, 0, "all was committed");
}

fn one_file(fs: &Cached, server: &Mortal, seed: u64, may_fail: bool) {
    let text = format!("file{seed}");
    let name = Name::parse(text.as_bytes()).expect("a name");
    let how = Create::Unchecked(NewAttributes::default());
    let files: &dyn FileSystem = fs;
    let node = files
        .create(&ROOT, CreateFile::new(&files.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    let (mut random, mut model) = (Random::new(seed), Model::default());
    let context = format!("seed {seed:#x}");
    for operation in 0..OPERATIONS {
        match random.below(10) {
            0 => match fs.flush(&ROOT, &node) {
                Ok(()) => {
                    model.since.clear();
                    let mut fate = server.fate.lock();
                    if server.cut_in > 0 && fate.random.below(2) == 0 {
                        server.cut(&mut fate);
                    }
                    model.assert_is(&content(&server.inner, &node), &context);
                }
                Err(error) => {
                    assert!(may_fail, "{context}: {error}");
                    model.doubt();
                }
            },
            // What was written is read, committed or not. A cut that nobody has noticed yet may hide it.
            1 if server.cut_in == 0 && !may_fail => model.assert_is(&content(fs, &node), &context),
            _ => {
                let from = usize::try_from(random.below(LENGTH as u64)).expect("small");
                let length = usize::try_from(random.below(2 * BLOCK as u64)).expect("small") + 1;
                let range = from..(from + length).min(LENGTH);
                let value = (operation % 251) as u8;
                model.write(range.clone(), value);
                if let Err(error) = write(fs, &node, range.start, &vec![value; range.len()]) {
                    assert!(may_fail, "{context}: {error}");
                    model.doubt();
                }
            }
        }
    }
    while fs.flush(&ROOT, &node).is_err() {
        model.doubt();
    }
    // Others may still read what they have not committed.
    if server.cut_in > 0 {
        server.cut(&mut server.fate.lock());
    }
    model.assert_is(&content(&server.inner, &node), &context);
}

#[test]
fn what_fsync_promised_survives_power_cuts() {
    for seed in 0..ROUNDS {
        campaign(seed, 100, 0);
    }
}

#[test]
fn what_fsync_promised_survives_power_cuts_and_refusals() {
    for seed in 0..ROUNDS {
        campaign(seed, 60, 15);
    }
}

#[test]
fn what_was_written_is_read_before_it_is_committed() {
    for seed in 0..ROUNDS {
        campaign(seed, 0, 0);
    }
}
