//! One file's bytes: written, read, cut, grown, mapped, past the cache and through it, always equal to a copy.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{Advice, OFlags, fadvise};

use super::history::History;
use super::mapping;
use howdah_random::Random;

/// Larger than several of the client's largest transfers, small enough that operations meet.
const LARGEST_FILE: usize = 5 << 20;
/// Larger than one transfer of 1 MiB.
const LARGEST_TRANSFER: usize = (1 << 20) + 70_000;

/// What is done next.
#[derive(Debug)]
enum Operation {
    Write { at: usize, length: usize },
    WriteDirect { at: usize, length: usize },
    Read { at: usize, length: usize },
    ReadDirect { at: usize, length: usize },
    ReadMapped { at: usize, length: usize },
    WriteMapped { at: usize, length: usize },
    SetLength { length: usize },
    Sync,
    Reopen,
    Forget,
    CompareAll,
}

/// Exercises the file at `path` for some time; says what it did, or what differed and the last operations before.
pub fn exercise_file(path: &Path, seed: u64, time: Duration) -> Result<String> {
    let mut exerciser = Exerciser::new(path, seed)?;
    let mut history = History::default();
    let end = Instant::now() + time;
    while Instant::now() < end {
        let operation = exerciser.choose();
        history.push(&operation);
        exerciser.perform(&operation).with_context(|| history.tail())?;
    }
    exerciser.perform(&Operation::Reopen)?;
    exerciser.perform(&Operation::CompareAll)?;
    Ok(format!("{} operations on a file, all equal", history.count()))
}

struct Exerciser {
    path: PathBuf,
    file: File,
    direct: Option<File>,
    expected: Vec<u8>,
    random: Random,
}

impl Exerciser {
    fn new(path: &Path, seed: u64) -> Result<Self> {
        File::create(path).with_context(|| format!("making {}", path.display()))?;
        let (file, direct) = open(path)?;
        Ok(Self { path: path.into(), file, direct, expected: Vec::new(), random: Random::new(seed) })
    }

    fn choose(&mut self) -> Operation {
        let (at, length) = self.inside();
        match self.random.below(100) {
            0..25 => {
                let at = self.below(LARGEST_FILE);
                Operation::Write { at, length: self.length().min(LARGEST_FILE - at) }
            }
            25..32 => {
                let at = self.below(LARGEST_FILE);
                Operation::WriteDirect { at, length: self.length().min(LARGEST_FILE - at) }
            }
            32..52 => Operation::Read { at, length },
            52..60 => Operation::ReadDirect { at, length },
            60..68 => Operation::ReadMapped { at, length },
            68..78 => Operation::WriteMapped { at, length },
            78..86 => Operation::SetLength { length: self.below(LARGEST_FILE) },
            86..90 => Operation::Sync,
            90..94 => Operation::Reopen,
            94..98 => Operation::Forget,
            _ => Operation::CompareAll,
        }
    }

    fn perform(&mut self, operation: &Operation) -> Result<()> {
        match *operation {
            Operation::Write { at, length } => {
                let bytes = self.bytes(length);
                self.file.write_all_at(&bytes, at as u64).context("writing")?;
                self.put(at, &bytes);
            }
            Operation::WriteDirect { at, length } => {
                let bytes = self.bytes(length);
                let file = self.direct.as_ref().unwrap_or(&self.file);
                file.write_all_at(&bytes, at as u64).context("writing past the cache")?;
                self.put(at, &bytes);
            }
            Operation::Read { at, length } => {
                let mut bytes = vec![0; length];
                self.file.read_exact_at(&mut bytes, at as u64).context("reading")?;
                self.compare(at, &bytes)?;
            }
            Operation::ReadDirect { at, length } => {
                let mut bytes = vec![0; length];
                let file = self.direct.as_ref().unwrap_or(&self.file);
                file.read_exact_at(&mut bytes, at as u64).context("reading past the cache")?;
                self.compare(at, &bytes)?;
            }
            Operation::ReadMapped { at, length } => {
                let bytes = mapping::read(&self.file, at, length).context("reading a mapping")?;
                self.compare(at, &bytes)?;
            }
            Operation::WriteMapped { at, length } => {
                let bytes = self.bytes(length);
                mapping::write(&self.file, at, &bytes).context("writing a mapping")?;
                self.put(at, &bytes);
            }
            Operation::SetLength { length } => {
                self.file.set_len(length as u64).context("setting the length")?;
                self.expected.resize(length, 0);
            }
            Operation::Sync => self.file.sync_all().context("syncing")?,
            Operation::Reopen => (self.file, self.direct) = open(&self.path)?,
            Operation::Forget => {
                self.file.sync_all().context("syncing")?;
                fadvise(&self.file, 0, None, Advice::DontNeed).context("dropping the file's cached pages")?;
            }
            Operation::CompareAll => {
                let mut bytes = vec![0; self.expected.len()];
                self.file.read_exact_at(&mut bytes, 0).context("reading everything")?;
                self.compare(0, &bytes)?;
            }
        }
        let length = self.file.metadata().context("asking for the length")?.len();
        ensure!(length == self.expected.len() as u64, "the length is {length}, not {}", self.expected.len());
        Ok(())
    }

    fn compare(&self, at: usize, bytes: &[u8]) -> Result<()> {
        let expected = &self.expected[at..at + bytes.len()];
        let Some(first) = bytes.iter().zip(expected).position(|(got, want)| got != want) else {
            return Ok(());
        };
        let wrong = bytes.iter().zip(expected).filter(|(got, want)| got != want).count();
        bail!(
            "{wrong} of {} bytes differ, the first at {}: {:#04x}, not {:#04x}",
            bytes.len(),
            at + first,
            bytes[first],
            expected[first]
        );
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if end > self.expected.len() && !bytes.is_empty() {
            self.expected.resize(end, 0);
        }
        if !bytes.is_empty() {
            self.expected[at..end].copy_from_slice(bytes);
        }
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.random.fill(&mut bytes);
        bytes
    }

    /// A range inside the file.
    fn inside(&mut self) -> (usize, usize) {
        let at = self.below(self.expected.len() + 1).min(self.expected.len());
        (at, self.length().min(self.expected.len() - at))
    }

    /// Small, middling or large, each as often.
    fn length(&mut self) -> usize {
        let most = [600, 40_000, LARGEST_TRANSFER][self.below(3)];
        self.below(most)
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end as u64) as usize
    }
}

/// The file twice: through the cache, and past it where the file system can.
fn open(path: &Path) -> Result<(File, Option<File>)> {
    let options = || {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        options
    };
    let file = options().open(path).with_context(|| format!("opening {}", path.display()))?;
    let direct_flag = OFlags::DIRECT.bits() as i32;
    // Only a network file system takes unaligned direct transfers; elsewhere this half of the test is left out.
    let direct = options().custom_flags(direct_flag).open(path).ok();
    let direct = direct.filter(|direct| direct.write_all_at(&[], 0).is_ok() && is_network(direct));
    Ok((file, direct))
}

fn is_network(file: &File) -> bool {
    const NFS_SUPER_MAGIC: rustix::fs::FsWord = 0x6969;
    rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type == NFS_SUPER_MAGIC)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn a_local_file_passes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let seed = 0x5eed;
        super::exercise_file(&directory.path().join("file"), seed, Duration::from_millis(300))
            .unwrap_or_else(|error| panic!("seed {seed}: {error:#}"));
    }
}
