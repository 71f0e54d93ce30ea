//! A time as plans write it: "60s", "100ms", "2m".

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longer than anything in a plan takes, and short enough to be added to any time of day.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A time in a plan, of 30 days at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(pub Duration);

impl Time {
    /// Whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    fn parse(text: &str) -> Option<Self> {
        let time: jiff::SignedDuration = text.parse().ok()?;
        Duration::try_from(time).ok().filter(|time| *time <= LONGEST).map(Self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "\"{text}\" is no time: a number with its unit, as in \"60s\", \"100ms\", \"2m\""
            ))
        })
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}ms", self.0.as_micros() as f64 / 1000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, milliseconds) in [("60s", 60_000), ("100ms", 100), ("2m", 120_000), ("1m 30s", 90_000)] {
            assert_eq!(Time::parse(text), Some(Time(Duration::from_millis(milliseconds))), "{text}");
        }
        for text in ["", "60", "-1s", "soon", "31d", "9000000000000000000s"] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
