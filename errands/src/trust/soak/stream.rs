//! A stream: a large file that is written block by block, committed, and read again, over and over, each time with other bytes.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use howdah_client::connect::own_caller;
use howdah_vfs::{
    Change, CommitFile, Create, CreateFile, Data, FileSystem, FsError, Handle, Name, NewAttributes,
    Stability, WriteFile,
};
use howdah_workload::content::{Generator, Stamp};

use crate::trust::calls::read;
use crate::trust::crew::Crew;

/// A block, and the file in blocks.
const BLOCK: usize = 64 << 10;
const BLOCKS: usize = 64;

/// A stream, and what of its file was answered for.
pub struct Stream {
    name: String,
    number: u64,
    fs: Arc<dyn FileSystem>,
    generator: Generator,
    answered: Mutex<Answered>,
    moved: AtomicU64,
    /// Between two blocks.
    pause: Duration,
}

/// What the file must begin with.
#[derive(Clone, Copy, Default)]
struct Answered {
    generation: u32,
    bytes: usize,
}

impl Stream {
    /// On this client.
    pub fn new(fs: Arc<dyn FileSystem>, number: u64, seed: u64, pause: Duration) -> Self {
        Self {
            name: format!("stream-{number}"),
            number,
            fs,
            generator: Generator::new(seed),
            answered: Mutex::default(),
            moved: AtomicU64::new(0),
            pause,
        }
    }

    /// Bytes that were written and read so far.
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Writes and reads until all are to stop.
    pub fn run(&self, crew: &Crew) -> Result<(), String> {
        for generation in 1.. {
            if crew.stops() {
                break;
            }
            let refused = |error: FsError| format!("{}, writing {generation}: {error}", self.name);
            self.know(Answered { generation, bytes: 0 });
            let file = self.make().map_err(refused)?;
            self.write(crew, &file, generation).map_err(refused)?;
            self.check(crew, &file, generation)?;
        }
        Ok(())
    }

    fn know(&self, answered: Answered) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = answered;
    }

    fn known(&self) -> Answered {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stamp(&self, generation: u32) -> Stamp {
        Stamp { file: self.number, generation }
    }

    fn make(&self) -> Result<Handle, FsError> {
        let how = Create::Unchecked(NewAttributes { size: Some(0), ..NewAttributes::with_mode(0o600) });
        let name = Name::parse(self.name.as_bytes()).map_err(|_| FsError::Invalid)?;
        let (root, change) = (self.fs.root(), &mut Change::default());
        Ok(self.fs.create(&own_caller(), CreateFile::new(&root, name, &how), change)?.handle)
    }

    fn write(&self, crew: &Crew, file: &Handle, generation: u32) -> Result<(), FsError> {
        let (caller, mut block, mut at) = (own_caller(), vec![0; BLOCK], 0);
        while at < BLOCK * BLOCKS && !crew.stops() {
            self.generator.fill(self.stamp(generation), at as u64, &mut block);
            let (data, change) = (Data::Bytes(&block), &mut Change::default());
            at += self
                .fs
                .write(&caller, WriteFile::new(file, at as u64, data, Stability::Unstable), change)?
                .count;
            self.know(Answered { generation, bytes: at });
            self.moved.fetch_add(BLOCK as u64, Ordering::Relaxed);
            thread::sleep(self.pause);
        }
        self.fs.commit(&caller, CommitFile::new(file, 0, 0), &mut Change::default()).map(drop)
    }

    fn check(&self, crew: &Crew, file: &Handle, generation: u32) -> Result<(), String> {
        let (mut at, end) = (0, self.known().bytes);
        while at < end && !crew.stops() {
            let wrong = |what: String| format!("{}, READ at {at}: {what}", self.name);
            let bytes = read(&*self.fs, &own_caller(), file, at as u64, BLOCK);
            let bytes = bytes.map_err(|error| wrong(error.to_string()))?;
            if bytes.is_empty() {
                return Err(wrong(format!("the file ends before {end}")));
            }
            let checked = self.generator.check(self.stamp(generation), at as u64, &bytes);
            checked.map_err(|mismatch| wrong(format!("{mismatch:?}")))?;
            at += bytes.len();
            self.moved.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            thread::sleep(self.pause);
        }
        Ok(())
    }

    /// Compares the file with what was answered for, while nobody serves it; gives the bytes that were compared.
    pub fn verify(&self, export: &Path) -> Result<u64, String> {
        let Answered { generation, bytes } = self.known();
        let found =
            if bytes == 0 { Vec::new() } else { std::fs::read(export.join(&self.name)).unwrap_or_default() };
        let Some(promised) = found.get(..bytes) else {
            return Err(format!("{} has {} bytes, and {bytes} were answered for", self.name, found.len()));
        };
        let checked = self.generator.check(self.stamp(generation), 0, promised);
        checked.map_err(|mismatch| format!("{}: {mismatch:?}", self.name))?;
        Ok(bytes as u64)
    }
}
