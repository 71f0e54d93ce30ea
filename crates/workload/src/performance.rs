//! What one thread, and then one phase of one run, did.

use std::time::{Duration, Instant};

use crate::counters::ProcedureCount;
use crate::measure::{Latencies, Processor};

/// What a thread did.
#[derive(Default)]
pub(super) struct Deeds {
    /// How long each timed thing took.
    pub(super) latencies: Latencies,
    /// Bytes read or written.
    pub(super) bytes: u64,
    /// Operations: what is timed, that is records, small files or names.
    pub(super) operations: u64,
    /// Files gone through to their end.
    pub(super) files: u64,
    /// Bytes compared with what was written.
    pub(super) verified_bytes: u64,
    /// Bytes written again because the server lost them.
    pub(super) resent_bytes: u64,
    /// Answers that showed an earlier try of the same call.
    pub(super) repeated_answers: u64,
}

impl Deeds {
    /// One operation that began then is over.
    pub(super) fn operation(&mut self, began: Instant) {
        self.latencies.record(began.elapsed());
        self.operations += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies);
        self.bytes += other.bytes;
        self.operations += other.operations;
        self.files += other.files;
        self.verified_bytes += other.verified_bytes;
        self.resent_bytes += other.resent_bytes;
        self.repeated_answers += other.repeated_answers;
    }
}

/// What all threads did in one phase of one run, and what it took.
pub(super) struct Performance {
    pub(super) phase: &'static str,
    pub(super) took: Duration,
    /// None for a part of a phase.
    pub(super) processor: Option<Processor>,
    pub(super) procedures: Vec<ProcedureCount>,
    pub(super) deeds: Deeds,
}

impl Performance {
    /// A part of this phase: what some of its operations did in the same time.
    pub(super) fn part(&self, phase: &'static str, deeds: Deeds) -> Self {
        Self { phase, took: self.took, processor: None, procedures: Vec::new(), deeds }
    }
}
