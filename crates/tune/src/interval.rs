//! What happened between two samples.

use std::time::Duration;

use crate::Sample;

/// Two samples of one connection, and the time between them.
#[derive(Debug, Clone, Copy)]
pub struct Interval<'a> {
    /// The earlier one.
    pub before: &'a Sample,
    /// The later one.
    pub after: &'a Sample,
}

impl Interval<'_> {
    /// How long it was; never zero.
    pub fn length(&self) -> Duration {
        self.after.at.saturating_sub(self.before.at).max(Duration::from_micros(1))
    }

    /// How much a sum grew. A sum that went back was of another connection: nothing.
    pub fn grown(&self, sum: impl Fn(&Sample) -> u64) -> u64 {
        sum(self.after).saturating_sub(sum(self.before))
    }

    /// What part of the time a state held, of which `sum` is the time in it; from 0 to 1.
    pub fn share(&self, sum: impl Fn(&Sample) -> Duration) -> f64 {
        let time = sum(self.after).saturating_sub(sum(self.before));
        (time.as_secs_f64() / self.length().as_secs_f64()).min(1.0)
    }

    /// Growth of a sum of bytes per second.
    pub fn rate(&self, sum: impl Fn(&Sample) -> u64) -> f64 {
        self.grown(sum) as f64 / self.length().as_secs_f64()
    }

    /// Growth of a sum per round trip: with a sum of bytes, what the path held on average; with a sum of calls, how many
    /// were on the way (Little's law).
    pub fn per_round_trip(&self, sum: impl Fn(&Sample) -> u64) -> f64 {
        self.rate(sum) * self.round_trip().as_secs_f64()
    }

    /// How many round trips it was long.
    pub fn round_trips(&self) -> f64 {
        self.length().as_secs_f64() / self.round_trip().max(Duration::from_micros(1)).as_secs_f64()
    }

    fn round_trip(&self) -> Duration {
        self.after.path.rtt.max(self.after.base_rtt())
    }

    /// Bytes that were sent again with reason.
    pub fn lost(&self) -> u64 {
        let again = self.grown(|sample| sample.sending.retransmitted);
        again.saturating_sub(self.grown(|sample| sample.sending.spurious))
    }
}
