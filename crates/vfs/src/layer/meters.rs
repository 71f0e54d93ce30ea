//! The figures that a metered file system keeps, and how they are read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Call;
use crate::FsError;

/// Figures of one call, as they grow.
#[derive(Debug)]
pub(super) struct CallMeter {
    count: AtomicU64,
    nanoseconds: AtomicU64,
    bytes: AtomicU64,
    /// By the place of the error in [`FsError::ALL`].
    errors: [AtomicU64; FsError::ALL.len()],
}

/// Figures of one call, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallFigures {
    /// How often it was made.
    pub count: u64,
    /// How long all of them took together.
    pub time: Duration,
    /// Bytes of data read or written.
    pub bytes: u64,
    /// How often each refusal was given; those never given are left out.
    pub errors: Vec<(FsError, u64)>,
}

/// All figures at one moment: near enough together for a person, but not taken in one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub(super) calls: Vec<CallFigures>,
}

impl Snapshot {
    /// Figures of one call.
    pub fn of(&self, call: Call) -> &CallFigures {
        &self.calls[call as usize]
    }

    /// Each call with its figures.
    pub fn iter(&self) -> impl Iterator<Item = (Call, &CallFigures)> {
        Call::ALL.into_iter().zip(&self.calls)
    }
}

impl CallMeter {
    pub(super) fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            errors: [const { AtomicU64::new(0) }; FsError::ALL.len()],
        }
    }

    /// One more call that took so long.
    pub(super) fn add(&self, time: Duration, error: Option<FsError>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        if let Some(error) = error {
            // The errors of the closed set are listed in the order in which they are declared.
            self.errors[error as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> CallFigures {
        let counts = self.errors.iter().map(|count| count.load(Ordering::Relaxed));
        CallFigures {
            count: self.count.load(Ordering::Relaxed),
            time: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
            bytes: self.bytes.load(Ordering::Relaxed),
            errors: FsError::ALL.iter().copied().zip(counts).filter(|&(_, count)| count > 0).collect(),
        }
    }
}
