//! One row: what one repetition of one cell measured, and all that is needed to repeat it. One line of `rows.jsonl`.

use std::collections::BTreeMap;

use howdah_link::Counters;
use serde::{Deserialize, Serialize};

use howdah_workload::measure::{Machine, OtherLoad};

/// The units in which figures are kept. A report shows them as people read them (MB/s, ms).
pub mod unit {
    /// Bytes per second.
    pub const BYTES_PER_SECOND: &str = "bytes/s";
    /// Seconds.
    pub const SECONDS: &str = "s";
    /// Operations per second.
    pub const OPERATIONS_PER_SECOND: &str = "ops/s";
    /// So many of something.
    pub const COUNT: &str = "count";
    /// Bytes.
    pub const BYTES: &str = "bytes";
    /// Bytes per second of processor time.
    pub const BYTES_PER_PROCESSOR_SECOND: &str = "bytes/processor s";
    /// A part of one.
    pub const PART: &str = "part";
}

/// What one repetition of one cell measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The plan's name.
    pub plan: String,
    /// Whether it is of the plan's quick form.
    pub quick: bool,
    /// The cell's number in the whole plan, from 1.
    pub cell: u32,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// What everything random in it follows from.
    pub seed: u64,
    /// The level of each factor, by their names.
    pub factors: BTreeMap<String, String>,
    /// Whether it came to its end.
    pub outcome: Outcome,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// How long it took, with building and taking down.
    pub seconds: f64,
    /// CPU time that programs outside the laboratory took while the clients worked; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_load: Option<OtherLoad>,
    /// Exactly what ran, in order.
    pub commands: Vec<CommandRecord>,
    /// Payload that TCP can carry over the wire to the server; none without a rate.
    pub line_rate_bytes_per_second: Option<f64>,
    /// The round trip of an empty wire, as the plan has it.
    pub round_trip_seconds: f64,
    /// What was measured: `CLIENT.figure`, `server.figure`; of a single client also plain `figure`.
    pub figures: BTreeMap<String, RowFigure>,
    /// Percentiles as pairs of a fraction and seconds, ascending, by client.
    pub latencies: BTreeMap<String, Vec<(f64, f64)>>,
    /// What each element of each wire did.
    pub link: Vec<LinkCount>,
    /// Where the time series is, from the result directory.
    pub series: Option<String>,
    /// The machine that measured.
    pub machine: Machine,
    /// The commit it was built from, if known.
    pub commit: Option<String>,
    /// The version of howdah.
    pub howdah: String,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As it should.
    Ok,
    /// At this step, for this reason.
    Failed(String),
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    /// The host it ran on.
    pub host: String,
    /// What the plan calls it: `server`, or a client's name.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// A number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowFigure {
    /// The number.
    pub value: f64,
    /// One of [`mod@unit`].
    pub unit: String,
}

/// What one element of one direction of a wire did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkCount {
    /// The wire.
    pub wire: String,
    /// `there` (from the wire's first host to its second) or `back`.
    pub direction: String,
    /// The element's name.
    pub element: String,
    /// What it did.
    pub counters: Counters,
    /// Where packets leave the wire: how late they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Late>,
}

/// How much later packets left a wire than its path says: what the machine added to the path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// Half of them were not later.
    pub half_seconds: f64,
    /// 99 of 100 were not later.
    pub nearly_all_seconds: f64,
    /// The latest.
    pub most_seconds: f64,
    /// The part of them that was on time, to 0.2 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_part: Option<f64>,
}

impl Row {
    /// Whether it came to its end.
    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    /// What others took of the CPUs, if it was so much that the figures are in doubt.
    pub fn disturbed(&self) -> Option<OtherLoad> {
        self.other_load.filter(OtherLoad::is_busy)
    }

    /// Whether each of these factors has this level.
    pub fn is_of(&self, levels: &BTreeMap<String, String>) -> bool {
        levels.iter().all(|(factor, level)| self.factors.get(factor) == Some(level))
    }
}

impl RowFigure {
    /// A value in one of the units of [`mod@unit`].
    pub fn new(value: f64, unit: &str) -> Self {
        Self { value, unit: unit.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    #[test]
    fn outcomes_are_written_as_documented() {
        for (outcome, text) in [
            (Outcome::Ok, r#""ok""#),
            (Outcome::Failed("server: not ready".to_owned()), r#"{"failed":"server: not ready"}"#),
        ] {
            assert_eq!(serde_json::to_string(&outcome).expect("written"), text);
            assert_eq!(serde_json::from_str::<Outcome>(text).expect("read"), outcome);
        }
    }

    #[test]
    fn a_row_comes_back_as_it_was() {
        let row = row(7, 1);
        let text = serde_json::to_string(&row).expect("written");
        assert_eq!(serde_json::from_str::<Row>(&text).expect("read"), row);
        assert!(row.is_of(&[("rtt".to_owned(), "30ms".to_owned())].into()));
        assert!(!row.is_of(&[("rtt".to_owned(), "0ms".to_owned())].into()));
        assert!(!row.is_of(&[("buffer".to_owned(), "30ms".to_owned())].into()));
    }
}
