//! Bits per second.

use std::fmt;
use std::str::FromStr;

use super::{NotA, as_text, decimal};

/// Bits per second, of all bytes on the wire; units are powers of 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bitrate(pub u64);

const UNITS: [(&str, u64); 4] = [("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("Kbit", 1_000), ("bit", 1)];

impl Bitrate {
    pub(crate) const ALLOWED: &str =
        "a rate: a number with bit, Kbit, Mbit or Gbit (per second), such as \"100Mbit\"";

    /// How many bytes pass in that time, rounded down.
    pub fn bytes_in(self, time: std::time::Duration) -> u64 {
        let bytes = u128::from(self.0) * time.as_nanos() / 8 / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl FromStr for Bitrate {
    type Err = NotA;

    fn from_str(text: &str) -> Result<Self, NotA> {
        let (number, unit) = decimal::split_unit(text);
        let unit = unit.strip_suffix("/s").unwrap_or(unit);
        let find = |(name, _): &&(&str, u64)| name.eq_ignore_ascii_case(unit);
        let bits = UNITS.iter().find(find).and_then(|(_, unit)| decimal::parse(number, *unit));
        bits.map(Self).ok_or_else(|| NotA::new(text, Self::ALLOWED))
    }
}

impl fmt::Display for Bitrate {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = UNITS.iter().find(|(_, unit)| self.0 >= *unit).unwrap_or(&UNITS[3]);
        write!(to, "{}{name}", decimal::show(self.0, *unit))
    }
}

as_text!(Bitrate);
