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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_seconds_and_read_as_it_was() {
        let mut text = Vec::new();
        serialize(&Duration::from_micros(2_500_001), &mut serde_json::Serializer::new(&mut text))
            .expect("room");
        assert_eq!(text, b"2.500001");
        let read = deserialize(&mut serde_json::Deserializer::from_slice(&text)).expect("a time");
        assert_eq!(read, Duration::from_micros(2_500_001));
    }
}
