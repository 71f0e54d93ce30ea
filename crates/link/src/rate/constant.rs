//! The same rate all the time.

use std::time::{Duration, Instant};

use super::Pace;
use super::pace::QUANTUM;
use crate::quantity::Bitrate;

/// Bits of a byte, times the nanoseconds of a second.
const BIT_NANOSECONDS: u64 = 8 * 1_000_000_000;

/// A constant rate, exact in the long run: what a packet takes beyond whole nanoseconds is kept for the next one.
#[derive(Debug)]
pub struct Constant {
    bits_per_second: u64,
    most_at_once: usize,
    rest: u64,
}

impl Constant {
    /// So many bits per second, at least one.
    pub fn new(bits_per_second: u64) -> Self {
        assert!(bits_per_second > 0, "a line that sends nothing is not a line");
        let most_at_once = usize::try_from(Bitrate(bits_per_second).bytes_in(QUANTUM)).unwrap_or(usize::MAX);
        Self { bits_per_second, most_at_once, rest: 0 }
    }
}

impl Pace for Constant {
    fn sends(&mut self, start: Instant, bytes: usize, _: u32) -> Instant {
        // Overflows beyond 2 GiB, which no packet has.
        let work = (bytes as u64).saturating_mul(BIT_NANOSECONDS).saturating_add(self.rest);
        self.rest = work % self.bits_per_second;
        start + Duration::from_nanos(work / self.bits_per_second)
    }

    fn most_at_once(&self, _: Instant) -> usize {
        self.most_at_once
    }
}
