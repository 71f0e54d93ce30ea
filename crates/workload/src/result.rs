//! What a workload measured, as people and programs get it.

use serde::Serialize;

use super::performance::Performance;
use super::plan::WorkloadPlan;
use crate::counters::{ProcedureCount, totals};
use crate::measure::{Latencies, LatencySummary, Processor, Spread};

/// Bytes of a gigabyte, as throughput is shown.
const GB: f64 = 1e9;

/// What a workload measured.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadResult {
    /// Exactly what was done.
    pub parameters: WorkloadPlan,
    /// What was timed, in order.
    pub phases: Vec<PhaseResult>,
}

/// What one phase of a workload measured, over all runs.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseResult {
    /// Its name.
    pub name: &'static str,
    /// Whether this is part of the phase before it, whose time and processor it shares.
    pub is_part: bool,
    /// Bytes per second; none if nothing is moved.
    pub bytes_per_second: Option<Spread>,
    /// Operations per second.
    pub operations_per_second: Option<Spread>,
    /// Processor seconds of this process per gigabyte (10^9 bytes).
    pub processor_seconds_per_gb: Option<Spread>,
    /// Latencies of all runs together.
    pub latency: Option<LatencySummary>,
    /// Calls of all runs together, where somebody counts them.
    pub procedures: Vec<ProcedureCount>,
    /// Each run.
    pub runs: Vec<RunFigures>,
}

/// One run of one phase.
#[derive(Debug, Clone, Serialize)]
pub struct RunFigures {
    /// How long it took.
    pub seconds: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations: what is timed.
    pub operations: u64,
    /// Files gone through to their end.
    pub files: u64,
    /// Processor time of this process; none for a part of a phase.
    pub processor: Option<Processor>,
    /// Bytes that were compared with what was written, and were it.
    pub verified_bytes: u64,
    /// Bytes written again because the server said that it lost them.
    pub resent_bytes: u64,
    /// Answers that showed an earlier try of the same call.
    pub repeated_answers: u64,
    /// Calls per procedure.
    pub procedures: Vec<ProcedureCount>,
}

impl PhaseResult {
    /// Of the runs of one phase.
    pub(super) fn of(runs: &[Performance]) -> Self {
        let mut latencies = Latencies::new();
        runs.iter().for_each(|run| latencies.add(&run.deeds.latencies));
        let figures: Vec<RunFigures> = runs.iter().map(RunFigures::of).collect();
        let procedures = totals(figures.iter().map(|run| run.procedures.clone()));
        let spread = |figure: fn(&RunFigures) -> Option<f64>| Spread::of(figures.iter().filter_map(figure));
        Self {
            name: runs.first().map_or("", |run| run.phase),
            is_part: runs.first().is_some_and(|run| run.processor.is_none()),
            bytes_per_second: spread(RunFigures::bytes_per_second),
            operations_per_second: spread(RunFigures::operations_per_second),
            processor_seconds_per_gb: spread(RunFigures::processor_seconds_per_gb),
            latency: latencies.summary(),
            procedures,
            runs: figures,
        }
    }
}

impl RunFigures {
    fn of(run: &Performance) -> Self {
        let deeds = &run.deeds;
        Self {
            seconds: run.took.as_secs_f64(),
            bytes: deeds.bytes,
            operations: deeds.operations,
            files: deeds.files,
            processor: run.processor,
            verified_bytes: deeds.verified_bytes,
            resent_bytes: deeds.resent_bytes,
            repeated_answers: deeds.repeated_answers,
            procedures: run.procedures.clone(),
        }
    }

    fn bytes_per_second(&self) -> Option<f64> {
        (self.bytes > 0 && self.seconds > 0.0).then(|| self.bytes as f64 / self.seconds)
    }

    fn operations_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.operations as f64 / self.seconds)
    }

    fn processor_seconds_per_gb(&self) -> Option<f64> {
        let processor = self.processor?;
        (self.bytes > 0).then(|| processor.seconds() / (self.bytes as f64 / GB))
    }
}
