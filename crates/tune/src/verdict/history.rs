//! What a judge remembers of one direction of a connection from interval to interval.

use std::time::Duration;

use super::losses::Losses;
use crate::{Interval, Sample};

/// A rate that is beyond the best of the last intervals by more than this still grows.
const GROWTH: f64 = 1.1;
/// So many intervals: bbr gains a quarter in eight round trips, which are two, and after a dip the same rate is no growth.
const RATES: usize = 3;
/// In as many intervals and one more the same rate, within this factor, whatever was lost among them: who takes losses for congestion
/// is slower after one, and then grows. A full path carries as much as before, and loses what it does not hold.
const STEADY: f64 = 1.04;
/// How much the last interval counts in what is averaged: four round trips of a single call are three calls, or four.
const LATEST: f64 = 0.3;
/// More than this in flight says no more than that one always is: it would only take longer to forget.
const ENOUGH_IN_FLIGHT: f64 = 1.5;
/// An average of less than this in flight: the client thinks more than it asks.
const LEAST_IN_FLIGHT: f64 = 0.7;
/// So late a peer acknowledges a small reply that it does not answer with a call (`TCP_DELACK_MIN`, include/net/tcp.h): the
/// round trip as TCP takes it has up to so much of the client's thinking in it.
const LATE_ACKNOWLEDGEMENT: Duration = Duration::from_millis(40);
/// A client that moves less than this, in bytes per second, asks for little: more calls at once would not help it. A listing of a directory
/// is a burst of this kind.
const MUCH: f64 = 100_000.0;
/// For so long it must have moved as much, on average.
const MUCH_FOR: Duration = Duration::from_secs(1);
/// How many threads wanted a processor is known of the last second, so calls are averaged over about as long.
const OUTSTANDING_OVER: Duration = Duration::from_secs(1);

/// Of one direction: how fast it was of late, what was lost, how much the client asks.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Of the last intervals, and where the next one goes.
    rates: [f64; RATES],
    next: usize,
    is_growing: bool,
    losses: Losses,
    in_flight: Option<f64>,
    /// Calls received and not answered, on average.
    outstanding: f64,
    /// The largest window that the peer was seen to offer.
    peer_window_most: u64,
    /// Bytes per second, averaged over about a second, and for how long that has been much.
    average: f64,
    much_for: Duration,
}

/// An interval as one direction sees it.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Bytes per second.
    pub rate: f64,
    /// Segments that went, and how many losses they had.
    pub segments: f64,
    /// A train of segments that were lost together is one.
    pub losses: f64,
    /// Part of the time in which calls or replies were on their way through the socket: the round trip does not have that.
    pub in_socket: f64,
}

impl History {
    /// Takes an interval in.
    pub fn learn(&mut self, interval: &Interval<'_>, seen: &Seen) {
        let best = self.rates.iter().copied().fold(0.0, f64::max);
        let least = self.rates.iter().copied().fold(seen.rate, f64::min);
        self.is_growing = best > 0.0 && seen.rate > best * GROWTH;
        self.rates[self.next] = seen.rate;
        self.next = (self.next + 1) % RATES;
        self.losses.learn(interval, seen.segments, seen.losses);
        if best.max(seen.rate) <= least * STEADY {
            self.losses.forget();
        }
        self.peer_window_most = self.peer_window_most.max(interval.after.sending.peer_window.unwrap_or(0));
        let outstanding =
            f64::from(interval.before.gauges.outstanding + interval.after.gauges.outstanding) / 2.0;
        let weight = (interval.length().as_secs_f64() / OUTSTANDING_OVER.as_secs_f64()).min(1.0);
        self.outstanding += weight * (outstanding - self.outstanding);
        self.average += weight * (seen.rate - self.average);
        let is_much = self.average >= MUCH;
        self.much_for = if is_much { self.much_for + interval.length() } else { Duration::ZERO };
        let in_flight = (calls_in_flight(interval) + seen.in_socket).min(ENOUGH_IN_FLIGHT);
        let before = self.in_flight.unwrap_or(in_flight);
        self.in_flight = Some(before + LATEST * (in_flight - before));
    }

    /// Whether it was faster in this interval than in the ones before.
    pub fn is_growing(&self) -> bool {
        self.is_growing
    }

    /// Whether what was lost of late keeps a sender slow that takes losses for congestion, if it has so many segments in
    /// flight.
    pub fn is_held_by_loss(&self, interval: &Interval<'_>, segments: f64) -> bool {
        self.losses.explain(interval.after.path.rtt.max(Duration::from_micros(1)), segments)
    }

    /// In so many segments there was one loss of late, if there was any.
    pub fn loss_in(&self) -> Option<f64> {
        self.losses.one_in()
    }

    /// Whether the peer offers less than half of what it offered before: it does not take what came.
    pub fn peer_takes_less(&self, sample: &Sample) -> bool {
        sample.sending.peer_window.is_some_and(|window| window < self.peer_window_most / 2)
    }

    /// Calls received and not answered, on average.
    pub fn outstanding(&self) -> f64 {
        self.outstanding
    }

    /// Whether the client always has a call in flight and moves much: then it waits for us, and more calls would be faster.
    pub fn client_waits(&self) -> bool {
        self.much_for >= MUCH_FOR && self.in_flight.is_some_and(|calls| calls >= LEAST_IN_FLIGHT)
    }
}

/// Calls in flight on average, as the client counts them (Little's law).
fn calls_in_flight(interval: &Interval<'_>) -> f64 {
    let late = if sends_runts(interval) { LATE_ACKNOWLEDGEMENT } else { Duration::ZERO };
    let round_trip = interval.after.path.rtt.saturating_sub(late).max(interval.after.base_rtt());
    interval.rate(|sample| sample.gauges.calls) * round_trip.as_secs_f64()
        + interval.share(|sample| sample.gauges.executing)
}

/// Whether replies are shorter than a segment.
fn sends_runts(interval: &Interval<'_>) -> bool {
    let (sent, calls) =
        (interval.grown(|sample| sample.sending.sent), interval.grown(|sample| sample.gauges.calls));
    sent < calls.saturating_mul(interval.after.path.segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of intervals of 400 ms with so many segments and losses on a path of 100 ms: whether losses hold the sender.
    fn held_by_loss(intervals: &[(f64, f64)]) -> Vec<bool> {
        let (before, mut after) = (Sample::default(), Sample::default());
        (after.at, after.path.rtt) = (Duration::from_millis(400), Duration::from_millis(100));
        let interval = Interval { before: &before, after: &after };
        let mut history = History::default();
        let mut held = |&(segments, losses): &(f64, f64)| {
            history.learn(&interval, &Seen { rate: segments / 0.4, segments, losses, in_socket: 1.0 });
            history.is_held_by_loss(&interval, segments / 4.0)
        };
        intervals.iter().map(&mut held).collect()
    }

    #[test]
    fn a_sender_that_slows_down_and_grows_back_is_held_by_losses() {
        let sawtooth = [(240.0, 1.0), (170.0, 0.0), (180.0, 0.0), (195.0, 0.0), (215.0, 0.0), (240.0, 0.0)];
        let held = held_by_loss(&[sawtooth; 4].concat());
        assert!(held[1..].iter().all(|held| *held), "{held:?}");
    }

    #[test]
    fn a_full_path_that_loses_something_is_not() {
        // bbr's start overfills it, and then it is full; a loss later changes nothing.
        let mut full = vec![(20_000.0, 30.0), (32_000.0, 3.0)];
        full.extend([(32_100.0, 0.0); 10]);
        full.extend([(32_000.0, 1.0); 3]);
        let held = held_by_loss(&full);
        assert!(held[5..].iter().all(|held| !held), "{held:?}");
    }
}
