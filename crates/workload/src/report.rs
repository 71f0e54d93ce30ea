//! All that a measurement reports: the figures, and whatever is needed to repeat it. Its JSON is documented in `docs/bench.md`.

use serde::Serialize;

use super::carry_out::Schedule;
use super::place::PlaceKind;
use super::replay::ReplayReport;
use super::result::WorkloadResult;
use crate::measure::Machine;

/// A measurement.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// The version of howdah that measured.
    pub howdah_version: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// The command that repeats it, seed included.
    pub command: String,
    /// What data, sizes and order follow from.
    pub seed: u64,
    /// The machine it ran on.
    pub machine: Machine,
    /// Where it ran.
    pub place: PlaceReport,
    /// The classic measurement that was asked for.
    pub profile: Option<String>,
    /// What was done otherwise than the profile says.
    pub deviations: Vec<String>,
    /// How often each workload ran.
    pub schedule: Schedule,
    /// What the NFS client says of itself at the end: its connections, and how many calls it kept in flight and why.
    pub channel: Vec<String>,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
    /// The figures, workload by workload.
    pub results: Vec<WorkloadResult>,
    /// What came of playing a record of calls, if that was asked for; then there are no workloads.
    pub replay: Option<ReplayReport>,
}

/// Where a measurement ran.
#[derive(Debug, Clone, Serialize)]
pub struct PlaceReport {
    /// What a person calls it.
    pub name: String,
    /// What it is.
    pub kind: PlaceKind,
    /// The version of NFS, where there is one: "NFSv4.2".
    pub protocol: Option<&'static str>,
    /// How messages travel, where there are any.
    pub transport: Option<String>,
}
