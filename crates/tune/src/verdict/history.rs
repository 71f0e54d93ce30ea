//! What a judge remembers of a connection from interval to interval.

use std::time::Duration;

use crate::Interval;

/// For how long a loss is felt: a window halved by it grows back over many round trips.
const LOSS_FELT: Duration = Duration::from_secs(10);
/// The same in round trips, where those are long.
const LOSS_FELT_ROUND_TRIPS: u32 = 100;
/// A rate that grew by more than this from one interval to the next still grows.
const GROWTH: f64 = 1.1;

/// Of one direction: how fast it was before, and since when it has been steady.
#[derive(Debug, Clone, Default)]
pub struct History {
    rate: f64,
    is_growing: bool,
    last_loss: Option<Duration>,
    most_in_flight: f64,
}

impl History {
    /// Takes an interval in, of which `bytes` per second is the rate of this direction; `lost`: something was.
    pub fn learn(&mut self, interval: &Interval<'_>, rate: f64, lost: bool) {
        self.is_growing = self.rate > 0.0 && rate > self.rate * GROWTH;
        self.rate = rate;
        if lost {
            self.last_loss = Some(interval.after.at);
        }
        self.most_in_flight = self.most_in_flight.max(calls_in_flight(interval));
    }

    /// Whether it was faster in this interval than in the one before.
    pub fn is_growing(&self) -> bool {
        self.is_growing
    }

    /// Whether a loss still explains a small congestion window.
    pub fn feels_loss(&self, interval: &Interval<'_>) -> bool {
        let felt = LOSS_FELT.max(interval.after.base_rtt() * LOSS_FELT_ROUND_TRIPS);
        self.last_loss.is_some_and(|at| interval.after.at.saturating_sub(at) <= felt)
    }

    /// Whether the client has as many calls in flight as it ever had.
    pub fn has_all_calls_in_flight(&self, interval: &Interval<'_>) -> bool {
        let now = calls_in_flight(interval);
        now >= LEAST_IN_FLIGHT && now >= ALL_OF_THEM * self.most_in_flight
    }
}

/// Fewer calls than this in flight on average: the client thinks more than it asks.
const LEAST_IN_FLIGHT: f64 = 0.7;
/// What counts as all that a client ever had in flight; the rest is its own time between answer and call.
const ALL_OF_THEM: f64 = 0.7;

/// Calls in flight on average, as the client counts them.
fn calls_in_flight(interval: &Interval<'_>) -> f64 {
    interval.per_round_trip(|sample| sample.gauges.calls) + interval.share(|sample| sample.gauges.executing)
}
