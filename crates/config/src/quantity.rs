//! Quantities as people type and write them: times and sizes with units.

use std::time::Duration;

use howdah_tune::sizes::parse_size;

use super::{LONGEST_LEASE, SHORTEST_LEASE};

/// The longest burst.
pub const BURST_MAX: Duration = Duration::from_secs(60);

/// Units of times, in seconds.
const TIMES: &[(&str, f64)] = &[("", 1.0), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// The longest time: no timer of ours is set further ahead.
const LONGEST_SECONDS: f64 = 366.0 * 86_400.0;

/// The least memory of a cache: less would be more trouble than none.
const CACHE_MIN: u64 = 16 << 20;

/// The least that a cache may take on a disk.
const DISK_CACHE_MIN: u64 = 64 << 20;

/// A time, in seconds unless it says otherwise.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let seconds = seconds(text)?;
    match seconds > 0.0 && seconds <= LONGEST_SECONDS {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("a time is more than nothing, and at most a year".to_owned()),
    }
}

/// How long a lease lasts: whole seconds.
pub fn parse_lease(text: &str) -> Result<Duration, String> {
    let (shortest, longest) = (SHORTEST_LEASE, LONGEST_LEASE);
    let lease = Duration::try_from_secs_f64(seconds(text)?).map(|lease| lease.as_secs());
    match lease {
        Ok(seconds) if (shortest..=longest).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("a lease lasts {shortest} to {longest} s")),
    }
}

/// Seconds, of a number with or without a unit.
fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text);
    let factor = TIMES.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let factor = factor.ok_or("a time is a number with ms, s, m or h")?;
    Ok(fraction(number).ok_or("no time: it begins with a number")? * factor)
}

/// For how long something is believed: a time, or 0.
pub fn parse_believed(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { parse_time(text) }
}

/// Memory of a cache.
pub fn parse_cache_memory(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    match bytes {
        CACHE_MIN.. => Ok(bytes),
        _ => Err(format!("{text}: memory of a cache starts at {}M", CACHE_MIN >> 20)),
    }
}

/// What a cache may take on a disk.
pub fn parse_cache_size(text: &str) -> Result<u64, String> {
    match parse_size(text)? {
        bytes @ DISK_CACHE_MIN.. => Ok(bytes),
        _ => Err(format!("{text}: the size of a cache on disk starts at {}M", DISK_CACHE_MIN >> 20)),
    }
}

/// How long a client may save up what it does not use.
pub fn parse_burst(text: &str) -> Result<Duration, String> {
    let burst = parse_believed(text)?;
    if burst <= BURST_MAX { Ok(burst) } else { Err("a burst is at most 60s".to_owned()) }
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// A number without a sign.
pub fn fraction(text: &str) -> Option<f64> {
    let plain = text.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    text.parse().ok().filter(|number: &f64| plain && number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_positive() {
        for (text, ms) in [("2", 2000), ("1.5s", 1500), ("50ms", 50), ("2m", 120_000), ("1h", 3_600_000)] {
            assert_eq!(parse_time(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["0", "x", "", "inf", "-1", "nan"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        assert!(parse_burst("60s").is_ok() && parse_burst("61s").is_err());
    }
}
