//! Whether losses explain how little is in flight. A sender that takes each loss for congestion has a window that follows from how
//! often it loses something; who has many times that in flight is not held by losses, but loses what a full path cannot hold.

use std::time::Duration;

use crate::Interval;

/// A loss is remembered so long: a window halved by it grows back over many round trips.
const REMEMBERED: Duration = Duration::from_secs(10);
/// The same in round trips, where those are long.
const REMEMBERED_ROUND_TRIPS: u32 = 100;
/// The window of Reno where one segment in `1/p` is lost, in segments, times the root of `p` (RFC 9438 5.1).
const RENO: f64 = 1.2;
/// The window of CUBIC, times `(p / round trip in seconds)^(3/4)` (RFC 9438 5.1, with its usual constants).
const CUBIC: f64 = 1.054;
/// So many times that window is still held by losses: they come unevenly, and in trains.
const UNEVEN: f64 = 3.0;
/// Less than this is left of a loss that is forgotten.
const FORGOTTEN: f64 = 0.3;

/// After so long without a loss a sender that takes them for congestion is slower than it was, or grows back,
const QUIET: Duration = Duration::from_secs(2);
/// the same in round trips.
const QUIET_ROUND_TRIPS: u32 = 20;
/// Who is nearly as fast again is not held by what was lost.
const AS_FAST: f64 = 0.95;

/// Losses and segments of late: sums that fade.
#[derive(Debug, Clone, Copy, Default)]
pub struct Losses {
    segments: f64,
    losses: f64,
    /// Segments per second, in the last interval and when something was last lost.
    rate: f64,
    rate_at_loss: f64,
    /// Without a loss since then.
    quiet: Duration,
}

impl Losses {
    /// So many segments went in an interval, and so many losses were among them.
    pub fn learn(&mut self, interval: &Interval<'_>, segments: f64, losses: f64) {
        let remembered = REMEMBERED.max(interval.after.base_rtt() * REMEMBERED_ROUND_TRIPS);
        let kept = (-interval.length().as_secs_f64() / remembered.as_secs_f64()).exp();
        self.segments = self.segments * kept + segments;
        self.losses = self.losses * kept + losses;
        self.rate = segments / interval.length().as_secs_f64().max(1e-6);
        if losses > 0.0 {
            (self.rate_at_loss, self.quiet) = (self.rate, Duration::ZERO);
        } else {
            self.quiet += interval.length();
        }
    }

    /// Whether they keep a sender to so many segments in flight.
    pub fn explain(&self, round_trip: Duration, in_flight: f64) -> bool {
        if self.losses < FORGOTTEN || self.is_recovered(round_trip) {
            return false;
        }
        let part = (self.losses / self.segments.max(1.0)).min(1.0);
        let reno = RENO / part.sqrt();
        let cubic = CUBIC * (round_trip.as_secs_f64() / part).powf(0.75);
        in_flight <= UNEVEN * reno.max(cubic)
    }

    /// A full path loses something when it becomes full, and carries as much for as long as it is.
    fn is_recovered(&self, round_trip: Duration) -> bool {
        self.quiet >= QUIET.max(round_trip * QUIET_ROUND_TRIPS) && self.rate >= AS_FAST * self.rate_at_loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;

    fn after(segments: f64, losses: f64) -> Losses {
        let (before, mut after) = (Sample::default(), Sample::default());
        after.at = Duration::from_millis(400);
        let mut known = Losses::default();
        for _ in 0..25 {
            known.learn(&Interval { before: &before, after: &after }, segments, losses);
        }
        known
    }

    #[test]
    fn a_small_window_is_explained_by_losses_and_a_large_one_is_not() {
        let round_trip = Duration::from_millis(100);
        // One in a thousand of four windows of 40 segments each.
        assert!(after(160.0, 0.16).explain(round_trip, 40.0));
        // bbr that fills 1 Gb/s, and loses what the queue does not hold.
        assert!(!after(32_000.0, 200.0).explain(round_trip, 8000.0));
        assert!(!after(160.0, 0.0).explain(round_trip, 40.0));
    }

    #[test]
    fn a_loss_is_forgotten() {
        let (before, mut after) = (Sample::default(), Sample::default());
        let mut known = Losses::default();
        after.at = Duration::from_secs(1);
        known.learn(&Interval { before: &before, after: &after }, 150.0, 1.0);
        for second in 0..30 {
            assert_eq!(known.explain(Duration::from_millis(100), 30.0), second < 13, "after {second} s");
            known.learn(&Interval { before: &before, after: &after }, 100.0, 0.0);
        }
    }

    #[test]
    fn who_is_as_fast_as_before_the_loss_is_not_held_by_it() {
        let (before, mut after) = (Sample::default(), Sample::default());
        let (mut known, round_trip) = (Losses::default(), Duration::from_millis(100));
        after.at = Duration::from_secs(1);
        // bbr's start overfills 1 Gb/s once, and then keeps it full.
        known.learn(&Interval { before: &before, after: &after }, 81_000.0, 3.0);
        for second in 1..30 {
            known.learn(&Interval { before: &before, after: &after }, 81_000.0, 0.0);
            assert!(second < 2 || !known.explain(round_trip, 8_100.0), "after {second} s");
        }
    }
}
