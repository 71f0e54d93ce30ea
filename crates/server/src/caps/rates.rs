//! Caps as people type them and as they are shown.

use std::sync::atomic::{AtomicU64, Ordering};

use howdah_tune::sizes::parse_byte_rate;

/// What lifts a cap.
const NONE: &str = "none";

/// So much a second; none: as much as there is. Changed while calls are charged to it.
#[derive(Debug, Default)]
pub struct LiveRate(AtomicU64);

impl LiveRate {
    /// So much, or no cap.
    pub fn new(per_second: Option<u64>) -> Self {
        Self(AtomicU64::new(per_second.unwrap_or(0)))
    }

    /// What it is now.
    pub fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }

    /// From now on so much.
    pub fn set(&self, per_second: Option<u64>) {
        self.0.store(per_second.unwrap_or(0), Ordering::Relaxed);
    }
}

/// Bytes a second: `100MB/s`, `800Mbit`; `none` is no cap.
///
/// # Errors
/// It is no rate, or none at all.
pub fn parse_byte_cap(text: &str) -> Result<Option<u64>, String> {
    if text == NONE { Ok(None) } else { at_least_one(parse_byte_rate(text)?) }
}

/// Calls a second: `5000/s`; `none` is no cap.
///
/// # Errors
/// It is no number of calls, or none at all.
pub fn parse_call_cap(text: &str) -> Result<Option<u64>, String> {
    if text == NONE {
        return Ok(None);
    }
    let number = text.strip_suffix("/s").unwrap_or(text).trim_end();
    let calls = number.parse().map_err(|_| "expected calls a second, as in \"5000/s\", or \"none\"")?;
    at_least_one(calls)
}

fn at_least_one(rate: u64) -> Result<Option<u64>, String> {
    match rate {
        0 => Err("a rate of 0 would stop every call; use \"none\" for no cap".to_owned()),
        rate => Ok(Some(rate)),
    }
}

/// Bytes a second, as people read them.
pub fn show_bytes(rate: Option<u64>) -> String {
    rate.map_or_else(|| NONE.to_owned(), |rate| howdah_units::rate(rate as f64))
}

/// Calls a second, as people read them.
pub fn show_calls(rate: Option<u64>) -> String {
    rate.map_or_else(|| NONE.to_owned(), |rate| format!("{rate}/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_rates_or_none() {
        assert_eq!(parse_byte_cap("100MB/s"), Ok(Some(100_000_000)));
        assert_eq!(parse_byte_cap("80Mbit"), Ok(Some(10_000_000)));
        assert_eq!(parse_byte_cap("none"), Ok(None));
        assert_eq!([parse_call_cap("5000/s"), parse_call_cap("7")], [Ok(Some(5000)), Ok(Some(7))]);
        assert_eq!(parse_call_cap("none"), Ok(None));
        for text in ["0", "0MB/s", "fast", ""] {
            assert!(parse_byte_cap(text).is_err() && parse_call_cap(text).is_err(), "{text}");
        }
        assert_eq!(
            (show_bytes(Some(20_000_000)), show_calls(Some(5))),
            ("20.0 MB/s".to_owned(), "5/s".to_owned())
        );
    }
}
