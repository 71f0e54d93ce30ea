//! A line that is down at times.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::quantity::{NotA, Span, as_text};

/// "down 2s every 30s": up for 28 s from the first packet on, down for 2 s, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutagesSpec {
    /// How long it is down.
    pub down: Duration,
    /// From the end of one outage to the end of the next; longer than `down`.
    pub every: Duration,
}

impl OutagesSpec {
    const ALLOWED: &str =
        "a schedule: \"down TIME every TIME\" with a shorter time first, such as \"down 2s every 30s\"";
}

impl FromStr for OutagesSpec {
    type Err = NotA;

    fn from_str(text: &str) -> Result<Self, NotA> {
        let parse = || {
            let (down, every) = text.trim().strip_prefix("down ")?.split_once(" every ")?;
            let (Span(down), Span(every)) = (down.parse().ok()?, every.parse().ok()?);
            (down < every).then_some(Self { down, every })
        };
        parse().ok_or_else(|| NotA::new(text, Self::ALLOWED))
    }
}

impl fmt::Display for OutagesSpec {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "down {} every {}", Span(self.down), Span(self.every))
    }
}

as_text!(OutagesSpec);
