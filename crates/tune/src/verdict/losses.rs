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

/// Losses and segments of late: sums that fade.
#[derive(Debug, Clone, Copy, Default)]
pub struct Losses {
    segments: f64,
    losses: f64,
}

impl Losses {
    /// So many segments went in an interval, and so many losses were among them.
    pub fn learn(&mut self, interval: &Interval<'_>, segments: f64, losses: f64) {
        let remembered = REMEMBERED.max(interval.after.base_rtt() * REMEMBERED_ROUND_TRIPS);
        let kept = (-interval.length().as_secs_f64() / remembered.as_secs_f64()).exp();
        self.segments = self.segments * kept + segments;
        self.losses = self.losses * kept + losses;
    }

    /// What was lost so far does not hold the sender.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// In so many segments there was one loss of late; none if all are forgotten.
    pub fn one_in(&self) -> Option<f64> {
        (self.losses >= FORGOTTEN).then(|| (self.segments / self.losses).max(1.0))
    }

    /// Whether they keep a sender to so many segments in flight.
    pub fn explain(&self, round_trip: Duration, in_flight: f64) -> bool {
        let Some(one_in) = self.one_in() else { return false };
        let part = 1.0 / one_in;
        let reno = RENO / part.sqrt();
        let cubic = CUBIC * (round_trip.as_secs_f64() / part).powf(0.75);
        in_flight <= UNEVEN * reno.max(cubic)
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
}
