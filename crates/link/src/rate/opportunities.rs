//! A line that may send at certain times only, so much each time: a recorded radio link.

use std::time::{Duration, Instant};

use super::Pace;
use crate::FRAME_OVERHEAD;

/// What passes at each opportunity of a trace (mahimahi): a packet of 1500 bytes and 4 bytes before it.
pub const OPPORTUNITY_BYTES: usize = 1504;
/// What such traces count for a packet beside its bytes: the header of the TUN device on which they were replayed.
const OWN_FRAMING: usize = 4;

/// Opportunities, repeated; the first cycle begins with the first packet. What is not used at an opportunity is gone.
#[derive(Debug)]
pub struct Opportunities {
    /// Milliseconds, not falling, the last one more than 0: then the next cycle begins.
    stamps: Vec<u64>,
    began: Option<Instant>,
    /// The opportunity that was used last: in which cycle, which one, and what is left of it.
    cycle: u64,
    index: usize,
    left: usize,
}

impl Opportunities {
    /// At these milliseconds.
    pub fn new(stamps: Vec<u64>) -> Self {
        assert!(
            stamps.is_sorted() && stamps.last().is_some_and(|last| *last > 0),
            "a trace continues and ends"
        );
        Self { stamps, began: None, cycle: 0, index: 0, left: OPPORTUNITY_BYTES }
    }

    fn period(&self) -> u64 {
        self.stamps.last().copied().unwrap_or(1)
    }

    /// When the opportunity comes, since the beginning.
    fn time(&self) -> Duration {
        Duration::from_millis(self.cycle * self.period() + self.stamps[self.index])
    }

    fn next(&mut self) {
        self.left = OPPORTUNITY_BYTES;
        self.index += 1;
        if self.index == self.stamps.len() {
            (self.cycle, self.index) = (self.cycle + 1, 0);
        }
    }

    /// Passes over those that came before.
    fn skip_to(&mut self, since: Duration) {
        if self.time() >= since {
            return;
        }
        // The first whole millisecond that is not over.
        let milliseconds = since.as_nanos().div_ceil(1_000_000) as u64;
        let (cycle, into) = (milliseconds / self.period(), milliseconds % self.period());
        let (cycle, into) = if into == 0 && cycle > 0 { (cycle - 1, self.period()) } else { (cycle, into) };
        (self.cycle, self.left) = (cycle, OPPORTUNITY_BYTES);
        self.index = self.stamps.partition_point(|stamp| *stamp < into);
    }
}

impl Pace for Opportunities {
    fn sends(&mut self, start: Instant, bytes: usize, frames: u32) -> Instant {
        let began = *self.began.get_or_insert(start);
        self.skip_to(start - began);
        let framing = (FRAME_OVERHEAD - OWN_FRAMING) * frames as usize;
        let mut bytes = bytes.saturating_sub(framing);
        loop {
            let now = bytes.min(self.left);
            (bytes, self.left) = (bytes - now, self.left - now);
            if bytes == 0 {
                return began + self.time();
            }
            self.next();
        }
    }

    fn most_at_once(&self, _: Instant) -> usize {
        // Its frames may leave at different times.
        1
    }
}
