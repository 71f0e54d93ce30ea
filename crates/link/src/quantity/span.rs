//! Times.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{NotA, as_text, decimal};

/// A length of time, in whole nanoseconds, up to 584 years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const MINUTE: (&str, u64) = ("min", 60_000_000_000);

impl Span {
    pub(crate) const ALLOWED: &str = "a time: a number with ns, us, ms, s or min, such as \"30ms\"";
}

impl FromStr for Span {
    type Err = NotA;

    fn from_str(text: &str) -> Result<Self, NotA> {
        let (number, unit) = decimal::split_unit(text);
        let unit = if unit == "µs" { "us" } else { unit };
        let unit = UNITS.iter().chain([&MINUTE]).find(|(name, _)| *name == unit);
        let nanoseconds = unit.and_then(|(_, unit)| decimal::parse(number, *unit));
        nanoseconds
            .map(|count| Self(Duration::from_nanos(count)))
            .ok_or_else(|| NotA::new(text, Self::ALLOWED))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX);
        if nanoseconds == 0 {
            return to.write_str("0ms");
        }
        let (name, unit) = UNITS.iter().find(|(_, unit)| nanoseconds >= *unit).unwrap_or(&UNITS[3]);
        write!(to, "{}{name}", decimal::show(nanoseconds, *unit))
    }
}

impl From<Duration> for Span {
    fn from(time: Duration) -> Self {
        Self(time)
    }
}

as_text!(Span);
