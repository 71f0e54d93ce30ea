//! What is known and what happened.

use std::time::{Duration, Instant};

use super::advice::Advice;
use super::peer::Peer;
use crate::client::Class;

/// One class of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassReport {
    /// Which.
    pub class: Class,
    /// Calls sent.
    pub calls: u64,
    /// Calls sent again.
    pub retransmissions: u64,
    /// Timers that ran out too early: the answer was on its way.
    pub for_nothing: u64,
    /// Timers that ran out.
    pub timeouts: u64,
    /// Calls answered.
    pub answers: u64,
    /// Calls given up at their time.
    pub expired: u64,
    /// The smoothed round trip, if one was measured.
    pub round_trip: Option<Duration>,
    /// How much it varies.
    pub variation: Option<Duration>,
    /// How long the next call would be waited for, if nothing else is on the way.
    pub timeout: Duration,
    /// The floor of that, raised or not.
    pub floor: Duration,
}

/// All that a peer knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Each class of which a call was made.
    pub classes: Vec<ClassReport>,
    /// Calls on the way.
    pub calls_in_flight: usize,
    /// The window, in calls.
    pub window_calls: usize,
    /// The window, in bytes of calls and replies.
    pub window_bytes: usize,
    /// Bytes of calls and replies delivered per second.
    pub bytes_per_second: Option<f64>,
    /// The transfer size in use, in bytes.
    pub transfer: usize,
    /// How often fragments got lost and the transfer size dropped to one packet.
    pub transfer_drops: u64,
    /// Whether it is held there, and how long still.
    pub transfer_held: Option<Duration>,
    /// Replies that no call waited for.
    pub unknown_replies: u64,
    /// Whether TCP would serve better.
    pub advice: Option<Advice>,
}

impl<C> Peer<C> {
    /// All that is known.
    pub fn report(&self, now: Instant) -> Report {
        let size = self.window.size();
        Report {
            classes: Class::ALL.into_iter().filter_map(|class| self.class_report(class, now)).collect(),
            calls_in_flight: self.flight.0,
            window_calls: size.calls as usize,
            window_bytes: size.bytes as usize,
            bytes_per_second: self.rate.bytes_per_second(),
            transfer: self.transfer.size(),
            transfer_drops: self.transfer.drops(),
            transfer_held: self.transfer.held_until().and_then(|until| until.checked_duration_since(now)),
            unknown_replies: self.unknown,
            advice: self.advice(),
        }
    }

    /// Whether TCP would serve better, and why.
    pub fn advice(&self) -> Option<Advice> {
        if self.transfer.drops() > 0 { Some(Advice::FragmentsLost) } else { self.losses.advice() }
    }

    fn class_report(&self, class: Class, now: Instant) -> Option<ClassReport> {
        let (counts, estimator) = (&self.counts[class as usize], &self.estimators[class as usize]);
        (counts.calls > 0).then(|| ClassReport {
            class,
            calls: counts.calls,
            retransmissions: counts.again,
            for_nothing: counts.for_nothing,
            timeouts: counts.timed_out,
            answers: counts.answered,
            expired: counts.expired,
            round_trip: estimator.smoothed(),
            variation: estimator.variation(),
            timeout: estimator.timeout(now),
            floor: estimator.floor_at(now),
        })
    }
}
