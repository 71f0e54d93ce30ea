//! How long to wait for an answer: measured per class of calls, as RFC 6298 says, with floors that disks need.

use std::time::{Duration, Instant};

use crate::client::Class;

/// Before anything is measured (RFC 6298 2.1).
const INITIAL: Duration = Duration::from_secs(1);
/// The longest wait (RFC 6298 2.5).
pub(super) const MOST: Duration = Duration::from_secs(60);
/// For calls answered from memory as a rule: as TCP on Linux has it.
const FLOOR: Duration = Duration::from_millis(200);
/// For calls that may wait for a disk: one that was quick a thousand times can still seek, or spin up.
const DISK_FLOOR: Duration = Duration::from_secs(1);
/// The clock's grain (RFC 6298 2.3): timers of a loaded host are not better.
const GRAIN: Duration = Duration::from_millis(1);
/// For how long a floor stays raised after the last answer that needed it.
const RAISED_FOR: Duration = Duration::from_secs(60);
/// Doublings that are counted apart: 2^9 x 200 ms is more than the longest wait.
const MOST_DOUBLINGS: u32 = 9;

/// The retransmission timer of one class of calls to one server.
#[derive(Debug)]
pub(super) struct Estimator {
    floor: Duration,
    /// Smoothed round trip, and its variation.
    measured: Option<(Duration, Duration)>,
    /// A higher floor, proven necessary, and until when.
    raised: Option<(Duration, Instant)>,
    /// How often the wait is doubled, until an answer is unambiguous.
    doublings: u32,
    /// When it was doubled last.
    doubled: Option<Instant>,
}

impl Estimator {
    pub(super) fn new(class: Class) -> Self {
        let floor = match class {
            Class::Attributes | Class::Lookup => FLOOR,
            Class::Listing | Class::Read | Class::Write | Class::Commit | Class::Change => DISK_FLOOR,
        };
        Self { floor, measured: None, raised: None, doublings: 0, doubled: None }
    }

    /// An answer came so long after its call; nothing about it is ambiguous.
    pub(super) fn sample(&mut self, now: Instant, took: Duration) {
        self.doublings = 0;
        self.measured = Some(match self.measured {
            None => (took, took / 2),
            Some((smoothed, variation)) => {
                ((smoothed * 7 + took) / 8, (variation * 3 + smoothed.abs_diff(took)) / 4)
            }
        });
        // An answer that the floor alone would not have awaited shows that the raise is still needed.
        if let Some((floor, until)) = &mut self.raised
            && took > self.floor
        {
            *floor = (*floor).max(with_margin(took));
            *until = now + RAISED_FOR;
        }
    }

    /// A call was sent again though its answer, which took so long, was on its way.
    pub(super) fn was_too_quick(&mut self, now: Instant, took: Duration) {
        let before = self.raised.filter(|(_, until)| *until > now).map_or(self.floor, |(floor, _)| floor);
        self.raised = Some((with_margin(took).max(before), now + RAISED_FOR));
    }

    /// A call sent then was not answered in time. Calls that were on the way together count once.
    pub(super) fn expired(&mut self, sent: Instant, now: Instant) {
        if self.doubled.is_none_or(|doubled| sent >= doubled) {
            self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
            self.doubled = Some(now);
        }
    }

    /// How long to wait for an answer to a call sent now for the `sends`-th time, where `load` is how long the bytes
    /// take that are on the way already.
    pub(super) fn wait(&self, now: Instant, sends: u32, load: Duration) -> Duration {
        let doublings = self.doublings.max(sends.saturating_sub(1)).min(MOST_DOUBLINGS);
        (self.timeout(now) + load).saturating_mul(1 << doublings).min(MOST)
    }

    /// The wait without doublings and load (`RTO`).
    pub(super) fn timeout(&self, now: Instant) -> Duration {
        let measured =
            self.measured.map_or(INITIAL, |(smoothed, variation)| smoothed + GRAIN.max(variation * 4));
        measured.max(self.floor_at(now)).min(MOST)
    }

    /// The floor in force.
    pub(super) fn floor_at(&self, now: Instant) -> Duration {
        self.raised.filter(|(_, until)| *until > now).map_or(self.floor, |(floor, _)| floor)
    }

    /// The smoothed round trip (`SRTT`).
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.measured.map(|(smoothed, _)| smoothed)
    }

    /// Its variation (`RTTVAR`).
    pub(super) fn variation(&self) -> Option<Duration> {
        self.measured.map(|(_, variation)| variation)
    }

    /// Where the round trip ends as a rule, whatever the floor says.
    pub(super) fn usual(&self) -> Duration {
        self.measured.map_or(INITIAL, |(smoothed, variation)| smoothed + variation * 4)
    }
}

/// Half as much again: the next slow answer is hardly ever exactly as slow.
fn with_margin(took: Duration) -> Duration {
    (took + took / 2).min(MOST)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // Some instant is needed to start from.
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_first_samples_give_what_the_rfc_says() {
        let now = Instant::now();
        let mut estimator = Estimator::new(Class::Attributes);
        assert_eq!(estimator.timeout(now), INITIAL);
        estimator.sample(now, 400 * MS);
        assert_eq!(estimator.timeout(now), 1200 * MS);
        estimator.sample(now, 800 * MS);
        assert_eq!(estimator.smoothed(), Some(450 * MS));
        assert_eq!(estimator.variation(), Some(250 * MS));
        assert_eq!(estimator.timeout(now), 1450 * MS);
    }

    #[test]
    fn quick_answers_stop_at_the_floor_of_their_class() {
        let now = Instant::now();
        for (class, floor) in [(Class::Attributes, 200 * MS), (Class::Read, 1000 * MS)] {
            let mut estimator = Estimator::new(class);
            (0..100).for_each(|_| estimator.sample(now, MS / 10));
            assert_eq!(estimator.timeout(now), floor);
        }
    }

    #[test]
    fn a_wait_doubles_once_per_round_until_an_answer_is_clear() {
        let now = Instant::now();
        let mut estimator = Estimator::new(Class::Attributes);
        estimator.sample(now, MS);
        let later = now + 200 * MS;
        (0..16).for_each(|_| estimator.expired(now, later));
        assert_eq!(estimator.wait(later, 1, Duration::ZERO), 400 * MS);
        estimator.expired(later, later + 400 * MS);
        assert_eq!(estimator.wait(later, 1, Duration::ZERO), 800 * MS);
        assert_eq!(estimator.wait(later, 30, Duration::ZERO), MOST);
        estimator.sample(later, MS);
        assert_eq!(estimator.wait(later, 1, 50 * MS), 250 * MS);
    }

    #[test]
    fn a_floor_stays_raised_while_answers_need_it() {
        let now = Instant::now();
        let mut estimator = Estimator::new(Class::Attributes);
        estimator.sample(now, MS);
        estimator.was_too_quick(now, 300 * MS);
        (0..100).for_each(|_| estimator.sample(now, MS));
        assert_eq!(estimator.timeout(now), 450 * MS);
        let later = now + 50_000 * MS;
        estimator.sample(later, 320 * MS);
        (0..100).for_each(|_| estimator.sample(later, MS));
        assert_eq!(estimator.timeout(now + 100_000 * MS), 480 * MS);
        assert_eq!(estimator.timeout(now + 200_000 * MS), 200 * MS);
    }
}
