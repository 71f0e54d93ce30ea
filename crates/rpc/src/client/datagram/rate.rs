//! How fast answers come: bytes, both ways, from a call's sending to its answer.

use std::time::{Duration, Instant};

use super::estimator::MOST;

/// The delivery rate, smoothed.
#[derive(Debug, Default)]
pub(super) struct Rate {
    delivered: u64,
    bytes_per_second: Option<f64>,
}

impl Rate {
    /// What was delivered so far: to be kept with each call that is sent.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A call of so many bytes was answered, sent when so many were delivered.
    pub(super) fn sample(&mut self, bytes: usize, before: u64, took: Duration) {
        self.delivered += bytes as u64;
        if took.is_zero() {
            return;
        }
        let sample = (self.delivered - before) as f64 / took.as_secs_f64();
        self.bytes_per_second =
            Some(self.bytes_per_second.map_or(sample, |rate| rate + (sample - rate) / 8.0));
    }

    /// How long so many bytes take.
    pub(super) fn time_of(&self, bytes: usize) -> Duration {
        let seconds = self.bytes_per_second.map_or(0.0, |rate| bytes as f64 / rate);
        Duration::from_secs_f64(seconds.min(MOST.as_secs_f64()))
    }

    pub(super) fn bytes_per_second(&self) -> Option<f64> {
        self.bytes_per_second
    }
}

/// When a call was sent, as far as rates care.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentAt {
    pub(super) at: Instant,
    pub(super) delivered: u64,
}
