//! How fast a line is, and how that changes.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::quantity::{Bitrate, NotA, Span};
use crate::rate::OPPORTUNITY_BYTES;

/// `"100Mbit"`, `"unlimited"`, `{ steps = [{ rate = "10Mbit", last = "5s" }, …] }`, `{ trace = "FILE" }`, or
/// `{ opportunities = [0, 3, …] }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub enum RateSpec {
    /// Always the same.
    Fixed(Bitrate),
    /// Packets take no time. Undoes the rate of a profile.
    Unlimited,
    /// One rate after another, and again from the first; "0bit": nothing passes, the queue waits.
    Steps(Vec<Step>),
    /// A file of opportunities, to be loaded before a path is built: [`PathSpec::load`](super::PathSpec::load).
    Trace(String),
    /// Milliseconds, not falling, at each of which 1504 bytes may pass (the traces of mahimahi); repeated from the last.
    Opportunities(Vec<u64>),
}

/// A rate for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Bits per second.
    pub rate: Bitrate,
    /// For how long.
    pub last: Span,
}

/// The forms that a person may write, each with its keys.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a rate as \"100Mbit\", \"unlimited\", { steps = [{ rate = \"10Mbit\", last = \"5s\" }] } or { trace = \"FILE\" }"
)]
enum Text {
    Rate(String),
    Steps(Steps),
    Trace(Trace),
    Opportunities(Opportunities),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    trace: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opportunities {
    opportunities: Vec<u64>,
}

const UNLIMITED: &str = "unlimited";

impl RateSpec {
    /// Reads a trace: a line per opportunity, the millisecond at which it comes.
    pub fn opportunities(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
        let stamp = |(number, line): (usize, &str)| {
            let line_number = number + 1;
            line.parse()
                .map_err(|_| format!("line {line_number}: \"{line}\" is no whole number of milliseconds"))
        };
        Self::stamps(lines.map(stamp).collect::<Result<_, _>>()?)
    }

    fn stamps(stamps: Vec<u64>) -> Result<Self, String> {
        if !stamps.is_sorted() {
            return Err("a trace goes back in time: its milliseconds must not fall".to_owned());
        }
        match stamps.last() {
            None | Some(0) => Err("a trace ends after 1 ms or later: with that it begins again".to_owned()),
            Some(_) => Ok(Self::Opportunities(stamps)),
        }
    }

    fn steps(steps: Vec<Step>) -> Result<Self, String> {
        let passes = |step: &Step| step.rate.0 > 0 && !step.last.0.is_zero();
        match steps.iter().any(passes) {
            true => Ok(Self::Steps(steps)),
            false => {
                Err("steps in which nothing ever passes: at least one needs a rate and a time".to_owned())
            }
        }
    }

    /// What it carries in the long run; `None`: without limit, or not loaded.
    pub fn average(&self) -> Option<Bitrate> {
        match self {
            Self::Fixed(rate) => Some(*rate),
            Self::Unlimited | Self::Trace(_) => None,
            Self::Steps(steps) => {
                let bits = |step: &Step| u128::from(step.rate.0) * step.last.0.as_nanos();
                let time: u128 = steps.iter().map(|step| step.last.0.as_nanos()).sum();
                Some(Bitrate((steps.iter().map(bits).sum::<u128>() / time.max(1)) as u64))
            }
            Self::Opportunities(stamps) => {
                let bits = stamps.len() as u64 * OPPORTUNITY_BYTES as u64 * 8 * 1000;
                Some(Bitrate(bits / stamps.last().copied().unwrap_or(1).max(1)))
            }
        }
    }
}

impl TryFrom<Text> for RateSpec {
    type Error = String;

    fn try_from(text: Text) -> Result<Self, String> {
        match text {
            Text::Rate(text) => text.parse(),
            Text::Steps(Steps { steps }) => Self::steps(steps),
            Text::Trace(Trace { trace }) => Ok(Self::Trace(trace)),
            Text::Opportunities(Opportunities { opportunities }) => Self::stamps(opportunities),
        }
    }
}

impl FromStr for RateSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == UNLIMITED {
            return Ok(Self::Unlimited);
        }
        match text.parse().map_err(|error: NotA| format!("{error}, or \"{UNLIMITED}\""))? {
            Bitrate(0) => Err(format!(
                "\"{text}\": a line that sends nothing; a schedule such as \"down 2s every 30s\" takes it down for a while"
            )),
            rate => Ok(Self::Fixed(rate)),
        }
    }
}

impl From<RateSpec> for Text {
    fn from(rate: RateSpec) -> Self {
        match rate {
            RateSpec::Fixed(rate) => Self::Rate(rate.to_string()),
            RateSpec::Unlimited => Self::Rate(UNLIMITED.to_owned()),
            RateSpec::Steps(steps) => Self::Steps(Steps { steps }),
            RateSpec::Trace(trace) => Self::Trace(Trace { trace }),
            RateSpec::Opportunities(opportunities) => Self::Opportunities(Opportunities { opportunities }),
        }
    }
}
