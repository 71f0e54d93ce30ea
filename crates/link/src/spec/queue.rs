//! How much may wait before a line, and by which rule.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::quantity::{Bitrate, ByteCount, NotA, as_text};

/// A switch's port holds at least so much line time: 1.2 MB at 1 Gb/s, as usual switches do.
const LEAST_TIME: Duration = Duration::from_millis(10);
/// A slow line's queue holds at least so many full frames: a first flight of TCP (10, RFC 6928) of three connections.
const LEAST_FRAMES: u64 = 32;
/// A full frame on an Ethernet's wire.
const FRAME: u64 = 1538;

/// The queue before a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueSpec {
    /// Drop-tail, so many times what the line carries in a round trip of the path: "1bdp".
    Bdp(f64),
    /// Drop-tail, so many bytes: "256KiB".
    Bytes(ByteCount),
    /// Drop-tail, so many packets: "100 packets".
    Packets(u32),
    /// CoDel with the target and the interval of RFC 8289: "codel".
    CoDel,
}

impl QueueSpec {
    pub(crate) const ALLOWED: &str =
        "a queue: \"1bdp\" (times rate x round trip), a size as \"256KiB\", \"100 packets\" or \"codel\"";

    /// What a line has of which only the rate is known: as much as it carries in a round trip, so that one TCP
    /// connection can fill it; 10 ms of its time and 32 full frames at least.
    pub fn usual(rate: Bitrate, round_trip: Duration) -> ByteCount {
        let bytes = rate.bytes_in(round_trip.max(LEAST_TIME)).max(LEAST_FRAMES * FRAME);
        ByteCount(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

impl FromStr for QueueSpec {
    type Err = NotA;

    fn from_str(text: &str) -> Result<Self, NotA> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("codel") {
            return Ok(Self::CoDel);
        }
        let times = text.strip_suffix("bdp").and_then(|number| number.trim().parse().ok());
        if let Some(times) = times.filter(|times: &f64| times.is_finite() && *times > 0.0) {
            return Ok(Self::Bdp(times));
        }
        let packets = text.strip_suffix("packets").or(text.strip_suffix("packet"));
        if let Some(count) = packets.and_then(|number| number.trim().parse().ok()).filter(|count| *count > 0)
        {
            return Ok(Self::Packets(count));
        }
        text.parse().map(Self::Bytes).map_err(|_| NotA::new(text, Self::ALLOWED))
    }
}

impl fmt::Display for QueueSpec {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bdp(times) => write!(to, "{times}bdp"),
            Self::Bytes(bytes) => bytes.fmt(to),
            Self::Packets(count) => write!(to, "{count} packets"),
            Self::CoDel => to.write_str("codel"),
        }
    }
}

as_text!(QueueSpec);
