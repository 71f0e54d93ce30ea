//! Counts what is called and what becomes of it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::calls::ProcedureId;
use crate::client::Class;

/// What became of the calls of one procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcedureReport {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub procedure: u32,
    /// Calls made.
    pub calls: u64,
    /// How often one of them was sent again.
    pub retransmissions: u64,
    /// Calls that were refused, given up, or answered with what is no answer.
    pub errors: u64,
    /// Calls answered, and how long they took in all.
    pub answers: u64,
    /// From the call to its answer, all of them together.
    pub latency: Duration,
}

/// What bulk calls came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MovedBulk {
    /// Calls that were answered.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Of those, bytes that were written.
    pub written: u64,
}

/// The counts.
#[derive(Debug, Default)]
pub(super) struct Counters {
    procedures: BTreeMap<ProcedureId, ProcedureReport>,
    moved: MovedBulk,
}

impl Counters {
    /// A call is sent, so many times before.
    pub(super) fn on_send(&mut self, procedure: ProcedureId, before: u32) {
        let report = self.of(procedure);
        match before {
            0 => report.calls += 1,
            _ => report.retransmissions += 1,
        }
    }

    /// A call was answered.
    pub(super) fn on_answer(&mut self, procedure: ProcedureId, class: Class, took: Duration, bytes: usize) {
        let report = self.of(procedure);
        report.answers += 1;
        report.latency += took;
        if class.is_bulk() {
            self.moved.calls += 1;
            self.moved.bytes += bytes as u64;
            self.moved.written += if class == Class::Write { bytes as u64 } else { 0 };
        }
    }

    /// A call came to nothing.
    pub(super) fn on_error(&mut self, procedure: ProcedureId) {
        self.of(procedure).errors += 1;
    }

    /// What bulk calls came to, of all time.
    pub(super) fn moved(&self) -> MovedBulk {
        self.moved
    }

    /// All counts, in order.
    pub(super) fn report(&self) -> Vec<ProcedureReport> {
        self.procedures.values().copied().collect()
    }

    fn of(&mut self, procedure: ProcedureId) -> &mut ProcedureReport {
        self.procedures.entry(procedure).or_insert_with(|| {
            let ProcedureId { program, version, procedure } = procedure;
            ProcedureReport { program, version, procedure, ..ProcedureReport::default() }
        })
    }
}
