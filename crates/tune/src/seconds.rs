//! Times in text: seconds, to the microsecond, which is what the kernel counts in.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a time.
pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_micros() as f64 / 1e6)
}

/// Reads one.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    let exact = Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)?;
    Ok(Duration::from_micros((exact.as_secs_f64() * 1e6).round() as u64))
}
