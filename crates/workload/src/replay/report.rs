//! What a play reports, beside what the record says. Its JSON is documented in `docs/bench.md`.

use std::time::Duration;

use howdah_capture::{Names, Why};
use serde::Serialize;

use super::recording::Recording;
use super::tally::Tally;
use crate::measure::{Latencies, LatencySummary};
use crate::result::PhaseResult;

/// Calls that begin later than this after their time are late: what a thread takes to wake is less.
const LATE_MS: f64 = 1.0;

/// A play.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayReport {
    /// The file of the record.
    pub file: String,
    /// When it was recorded: RFC 3339, UTC.
    pub recorded: String,
    /// By which version of howdah.
    pub recorded_by: String,
    /// How its names are written.
    pub names: Names,
    /// Why the capture ended; none: the file has no end, and is played as far as it goes.
    pub ended: Option<Why>,
    /// How long the record lasts.
    pub recorded_seconds: f64,
    /// Calls in it.
    pub recorded_calls: u64,
    /// Calls that it lost when it was taken.
    pub recorded_dropped: u64,
    /// The most calls that its server had at once.
    pub recorded_at_once: u64,
    /// How many times as fast as recorded; none: as fast as it goes.
    pub speed: Option<f64>,
    /// Calls at once, at most.
    pub in_flight: u64,
    /// What was made before.
    pub laid_out: LaidOut,
    /// How long after their time calls began, of all runs; none where nothing was to be waited for.
    pub late: Option<LatencySummary>,
    /// Calls that began more than a millisecond late.
    pub late_calls: u64,
    /// The first call that ended otherwise than in the record.
    pub first_otherwise: Option<String>,
    /// Procedure by procedure.
    pub procedures: Vec<ProcedureReplayed>,
    /// What was timed: one phase.
    pub phases: Vec<PhaseResult>,
}

/// What was made before the first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LaidOut {
    /// Files and links that the record is about.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Bytes of data written into files: what is read, the rest of them are holes.
    pub bytes: u64,
    /// Files that only make directories as long as they were listed.
    pub fillers: u64,
    /// Those that would have been too many.
    pub fillers_left_out: u64,
}

/// What came of a procedure.
#[derive(Debug, Clone, Serialize)]
pub struct ProcedureReplayed {
    /// Its name in RFC 1813.
    pub procedure: String,
    /// Calls in the record.
    pub recorded_calls: u64,
    /// Calls played, of all runs.
    pub calls: u64,
    /// Calls that were not played: no file system has them, or what they are for was not there.
    pub skipped: u64,
    /// Of those played, how many ended otherwise than in the record.
    pub otherwise: u64,
    /// Bytes that the record read or wrote.
    pub recorded_bytes: u64,
    /// Bytes read or written, of all runs.
    pub bytes: u64,
    /// From a call being complete to its reply standing ready, at the server of the record.
    pub recorded_latency: Option<LatencySummary>,
    /// From the call to its answer, here.
    pub latency: Option<LatencySummary>,
}

/// How it was played.
pub(super) struct Played {
    pub(super) speed: Option<f64>,
    pub(super) in_flight: usize,
    pub(super) laid_out: LaidOut,
    pub(super) late_calls: u64,
    pub(super) tally: Tally,
    pub(super) phase: PhaseResult,
}

/// Whether a call began late.
pub(super) fn is_late(by: Duration) -> bool {
    by.as_secs_f64() * 1e3 > LATE_MS
}

impl ReplayReport {
    /// Of a record, and how it was played.
    pub(super) fn new(recording: &Recording, played: Played) -> Self {
        let end = recording.end.as_ref();
        Self {
            file: recording.name.clone(),
            recorded: recording.header.started.clone(),
            recorded_by: recording.header.howdah.clone(),
            names: recording.header.names,
            ended: end.map(|end| end.end),
            recorded_seconds: recording.seconds(),
            recorded_calls: recording.calls.len() as u64,
            recorded_dropped: end.map_or(0, |end| end.dropped),
            recorded_at_once: recording.most_at_once() as u64,
            speed: played.speed,
            in_flight: played.in_flight as u64,
            laid_out: played.laid_out,
            late: played.tally.late.summary(),
            late_calls: played.late_calls,
            procedures: procedures(recording, &played.tally),
            first_otherwise: played.tally.first_otherwise,
            phases: vec![played.phase],
        }
    }
}

/// Those with the most calls first.
fn procedures(recording: &Recording, tally: &Tally) -> Vec<ProcedureReplayed> {
    let row = |(name, of): (&String, &super::tally::OfProcedure)| {
        let (mut latencies, mut calls, mut bytes) = (Latencies::new(), 0, 0);
        for call in recording.calls.iter().filter(|call| *call.procedure == **name) {
            latencies.record(Duration::from_secs_f64(call.took));
            calls += 1;
            bytes += call.done.unwrap_or_default();
        }
        ProcedureReplayed {
            procedure: name.clone(),
            recorded_calls: calls,
            calls: of.calls,
            skipped: of.skipped,
            otherwise: of.otherwise,
            recorded_bytes: bytes,
            bytes: of.bytes,
            recorded_latency: latencies.summary(),
            latency: of.latencies.summary(),
        }
    };
    let mut procedures: Vec<_> = tally.procedures.iter().map(row).collect();
    procedures.sort_by_key(|of| std::cmp::Reverse(of.recorded_calls));
    procedures
}
