//! What exactly is done: every parameter, so that a run can be repeated.

use std::fmt;
use std::time::Duration;

use howdah_random::{Random, mix};
use howdah_tune::flight::Bounds;
use serde::{Serialize, Serializer};

/// The kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Writes files from start to end.
    Write,
    /// Reads files from start to end.
    Read,
    /// Writes, then reads, many files one by one, each made, written and committed, then looked up and read.
    Files,
    /// The same with small files, each timed as a whole.
    Small,
    /// Reads blocks at random.
    RandomRead,
    /// Writes blocks at random.
    RandomWrite,
    /// Reads and writes blocks at random.
    Mixed,
    /// Makes, looks at, lists, renames and removes empty files.
    Metadata,
}

/// When what was written is made durable (COMMIT, `fsync`, what NFS does at close).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    /// At the end of each file, inside the time.
    Inside,
    /// At the end of each file, outside the time.
    Outside,
    /// Each write by itself (stable writes), inside the time.
    Each,
    /// Never.
    Never,
}

/// How large files are: all alike, or anything between two sizes, following from the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileSize {
    /// The smallest, in bytes.
    pub smallest_bytes: u64,
    /// The largest, in bytes.
    pub largest_bytes: u64,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkloadPlan {
    /// The kind of work.
    pub workload: Workload,
    /// How many files.
    pub files: u64,
    /// Their size.
    pub file_size: FileSize,
    /// Bytes of a record: what an application moves at once, and what is timed.
    pub record_bytes: u64,
    /// Bytes of one call to the file system, at most a record.
    pub transfer_bytes: u64,
    /// Streams that run at once, each on files of its own.
    pub threads: u64,
    /// Calls that each stream has in flight; without a number, as many as the path is measured to want, over all streams.
    pub in_flight: Option<u64>,
    /// When what was written is made durable.
    pub commit: Commit,
    /// How many random accesses, over all streams.
    pub operations: u64,
    /// How many of 100 mixed accesses read.
    pub read_percent: u64,
    /// Ends after this time; sequential work begins again at the start until then.
    #[serde(rename = "time_seconds", serialize_with = "seconds")]
    pub time: Option<Duration>,
    /// What is done in the first so long counts neither in bytes nor in time: sequential work only.
    #[serde(rename = "ramp_seconds", serialize_with = "seconds")]
    pub ramp: Option<Duration>,
    /// Each call in flight waits so long after its piece is done, before it takes the next: sequential work only.
    #[serde(rename = "think_seconds", serialize_with = "seconds")]
    pub think: Option<Duration>,
    /// Beside the work, on the same mount, the attributes of a file are asked for so often, and that is timed as a phase
    /// of its own: sequential work with a time only.
    #[serde(rename = "beside_seconds", serialize_with = "seconds")]
    pub beside: Option<Duration>,
    /// Whether all data is compared with what was written.
    pub verify: bool,
    /// What data, sizes and order follow from.
    pub seed: u64,
}

fn seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

/// Why a plan cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadPlanError(String);

impl fmt::Display for WorkloadPlanError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WorkloadPlanError {}

impl Workload {
    /// The name that it has on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Files => "files",
            Self::Small => "small",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
            Self::Mixed => "mixed",
            Self::Metadata => "metadata",
        }
    }

    /// Whether single blocks are accessed, in no order.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandomRead | Self::RandomWrite | Self::Mixed)
    }

    /// Whether data is written within the time.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandomRead | Self::Metadata)
    }

    /// Whether each file is handled by itself, and made within the time.
    pub fn is_per_file(self) -> bool {
        matches!(self, Self::Files | Self::Small | Self::Metadata)
    }
}

impl Commit {
    /// The name that it has on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Outside => "outside",
            Self::Each => "each",
            Self::Never => "never",
        }
    }
}

impl FileSize {
    /// All alike.
    pub fn exactly(bytes: u64) -> Self {
        Self { smallest_bytes: bytes, largest_bytes: bytes }
    }
}

impl WorkloadPlan {
    /// The most threads there may be, streams times calls in flight: each has a stack and a buffer.
    pub const MOST_THREADS: u64 = 1024;

    /// The largest call: what a server may take at most, with room to spare.
    pub const LARGEST_TRANSFER: u64 = 64 << 20;

    /// What somebody wants who names only the kind of work.
    pub fn usual(workload: Workload, seed: u64) -> Self {
        const MIB: u64 = 1 << 20;
        let (files, size, record) = match workload {
            Workload::Write | Workload::Read => (1, FileSize::exactly(256 * MIB), MIB),
            Workload::Files => (100, FileSize { smallest_bytes: 5 * MIB, largest_bytes: 50 * MIB }, MIB),
            Workload::Small => (1000, FileSize { smallest_bytes: 1 << 10, largest_bytes: 64 << 10 }, MIB),
            Workload::RandomRead | Workload::RandomWrite | Workload::Mixed => {
                (1, FileSize::exactly(256 * MIB), 4096)
            }
            Workload::Metadata => (1000, FileSize::exactly(0), 4096),
        };
        Self {
            workload,
            files,
            file_size: size,
            record_bytes: record,
            transfer_bytes: record,
            threads: 1,
            in_flight: Some(1),
            commit: Commit::Inside,
            operations: 10_000,
            read_percent: 70,
            time: None,
            ramp: None,
            think: None,
            beside: None,
            verify: false,
            seed,
        }
    }

    /// Whether it can be carried out at all.
    pub fn check(&self) -> Result<(), WorkloadPlanError> {
        let need =
            |holds: bool, why: &str| if holds { Ok(()) } else { Err(WorkloadPlanError(why.to_owned())) };
        let FileSize { smallest_bytes, largest_bytes } = self.file_size;
        need(self.files > 0, "there must be at least one file")?;
        need(self.files <= 100_000_000, "at most 100,000,000 files")?;
        need(
            self.threads > 0 && self.in_flight != Some(0),
            "threads and calls in flight must be at least 1",
        )?;
        let threads = self.threads.saturating_mul(self.in_flight.unwrap_or(1));
        need(threads <= Self::MOST_THREADS, "threads times calls in flight must be at most 1024")?;
        need(self.transfer_bytes > 0, "a transfer must have at least one byte")?;
        need(self.transfer_bytes <= Self::LARGEST_TRANSFER, "a transfer may have at most 64 MiB")?;
        need(
            self.record_bytes > 0 && self.record_bytes.is_multiple_of(self.transfer_bytes),
            "a record must be a whole number of transfers",
        )?;
        need(smallest_bytes <= largest_bytes, "the smallest file is larger than the largest")?;
        need(largest_bytes <= i64::MAX as u64, "no file is that large")?;
        need(self.read_percent <= 100, "at most 100 percent can be reads")?;
        if self.workload.is_random() || self.workload.is_per_file() {
            let sequential = [self.ramp, self.think, self.beside].iter().all(Option::is_none);
            need(
                sequential,
                "a ramp, a time to think and background calls are for sequential work (write, read)",
            )?;
        }
        need(
            self.ramp.is_none() || self.time.is_none_or(|time| self.ramp < Some(time)),
            "a ramp ends before the time",
        )?;
        need(self.beside.is_none() || self.time.is_some(), "background calls need a time")?;
        if self.workload.is_random() {
            need(self.operations > 0 || self.time.is_some(), "random access needs operations or a time")?;
            need(
                smallest_bytes / self.record_bytes * self.files >= threads,
                "random access needs at least one block for each call in flight",
            )?;
        } else if !self.workload.is_per_file() {
            need(self.files >= self.threads, "there must be at least as many files as threads")?;
            need(smallest_bytes > 0, "the files must hold something")?;
        }
        Ok(())
    }

    /// The size of a file, by its number.
    pub fn size_of(&self, file: u64) -> u64 {
        let FileSize { smallest_bytes, largest_bytes } = self.file_size;
        let choices = largest_bytes - smallest_bytes + 1;
        smallest_bytes + Random::new(self.seed ^ mix(file)).below(choices)
    }

    /// Bytes of all files together.
    pub fn total_bytes(&self) -> u64 {
        if self.file_size.smallest_bytes == self.file_size.largest_bytes {
            return self.file_size.smallest_bytes.saturating_mul(self.files);
        }
        (0..self.files).map(|file| self.size_of(file)).fold(0, u64::saturating_add)
    }

    /// Threads that there are: they work at once, or as many of them as the path wants.
    pub(super) fn crew(&self) -> usize {
        let threads = self.threads as usize;
        let Some(in_flight) = self.in_flight else {
            let most = threads.max(Bounds::default().ceiling);
            // Each call at random has a block of its own.
            let blocks = self.file_size.smallest_bytes / self.transfer_bytes * self.files;
            return if self.workload.is_random() { most.min(blocks as usize).max(1) } else { most };
        };
        threads * in_flight as usize
    }
}
