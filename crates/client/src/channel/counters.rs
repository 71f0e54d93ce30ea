//! Counts what is called and what becomes of it, per procedure.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;

use super::ProcedureReport;
use super::call::Kind;

/// The counts.
#[derive(Default)]
pub(super) struct Counters {
    procedures: Mutex<BTreeMap<Kind, ProcedureReport>>,
}

impl Counters {
    /// A call is sent, so many times before.
    pub(super) fn on_send(&self, kind: Kind, before: u32) {
        self.count(kind, |report| match before {
            0 => report.calls += 1,
            _ => report.retransmissions += 1,
        });
    }

    /// A call was answered.
    pub(super) fn on_answer(&self, kind: Kind, took: Duration) {
        self.count(kind, |report| {
            report.answers += 1;
            report.latency += took;
        });
    }

    /// A call came to nothing.
    pub(super) fn on_error(&self, kind: Kind) {
        self.count(kind, |report| report.errors += 1);
    }

    /// All counts, in order.
    pub(super) fn report(&self) -> Vec<ProcedureReport> {
        self.procedures.lock().values().copied().collect()
    }

    fn count(&self, kind: Kind, change: impl FnOnce(&mut ProcedureReport)) {
        let mut procedures = self.procedures.lock();
        change(procedures.entry(kind).or_insert_with(|| {
            let Kind { program, version, procedure } = kind;
            ProcedureReport { program, version, procedure, ..ProcedureReport::default() }
        }));
    }
}
