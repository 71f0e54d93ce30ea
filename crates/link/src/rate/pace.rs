//! How fast a line sends: what a line asks of a rate.

use std::time::{Duration, Instant};

/// A super-packet that takes longer on the line is sent in parts, so that it is not held back until its last byte.
pub(super) const QUANTUM: Duration = Duration::from_micros(100);

/// How fast a line sends at what time. Asked once per packet, in the order of time.
pub trait Pace: std::fmt::Debug + Send {
    /// When the last bit has left of so many bytes in so many frames, if the line is free from `start` on.
    fn sends(&mut self, start: Instant, bytes: usize, frames: u32) -> Instant;

    /// How many bytes of a super-packet are sent at once: what the line sends in a small part of a millisecond.
    fn most_at_once(&self, start: Instant) -> usize;
}
