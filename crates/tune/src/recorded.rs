//! A look at a connection as it is written down, with what was made of it: for experiments, and to judge it again.

use serde::{Deserialize, Serialize};

use crate::{Judgement, Sample};

/// One look at a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// When, in seconds of the Unix clock.
    pub time: f64,
    /// The client's address and port.
    pub client: String,
    /// How much its socket might hold unsent; 0: as much as its buffer.
    pub unsent_mark: u64,
    /// What was seen.
    pub sample: Sample,
    /// The verdicts on the time since the look before; none on the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
}
