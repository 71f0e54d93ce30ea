//! How long a thread may run before all others. One that never rests would take a processor from them for as long as packets
//! come, and the programs that send and receive those packets need one, too. Pure: the caller runs and sleeps, and says when.

use std::time::{Duration, Instant};

/// What may be saved up of rest. A burst of packets is carried in that time, on a machine that carries any.
const SAVED_MOST: Duration = Duration::from_millis(10);

/// So much rest has to be saved before it is before others again: to change that takes a system call.
const ENOUGH: Duration = Duration::from_millis(5);

/// A thread's place among others.
#[derive(Debug)]
pub struct Precedence {
    /// As much as it rested more than it ran: it may be before others for half of the time.
    saved: Duration,
    since: Instant,
    before_others: bool,
}

impl Precedence {
    /// It runs before others from now on.
    pub fn new(now: Instant) -> Self {
        Self { saved: SAVED_MOST, since: now, before_others: true }
    }

    /// It ran until now. Whether it is before others from now on, if that changes.
    pub fn ran(&mut self, now: Instant) -> Option<bool> {
        let ran = self.passed(now);
        self.saved = self.saved.saturating_sub(ran);
        self.change(self.before_others && !self.saved.is_zero())
    }

    /// It slept until now. Whether it is before others from now on, if that changes.
    pub fn rested(&mut self, now: Instant) -> Option<bool> {
        let rested = self.passed(now);
        self.saved = (self.saved + rested).min(SAVED_MOST);
        self.change(self.before_others || self.saved >= ENOUGH)
    }

    fn passed(&mut self, now: Instant) -> Duration {
        now.saturating_duration_since(std::mem::replace(&mut self.since, now))
    }

    fn change(&mut self, before_others: bool) -> Option<bool> {
        (std::mem::replace(&mut self.before_others, before_others) != before_others).then_some(before_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It runs and rests for so many microseconds by turns, for a second. The part of that time in which it is before others
    /// and runs, and how often its place changes.
    fn live(runs: u64, rests: u64) -> (f64, u32) {
        let start = Instant::now();
        let mut precedence = Precedence::new(start);
        let (mut now, mut before, mut first, mut changes) = (start, true, Duration::ZERO, 0);
        while now - start < Duration::from_secs(1) {
            let ran = Duration::from_micros(runs);
            now += ran;
            first += if before { ran } else { Duration::ZERO };
            let after_run = precedence.ran(now);
            now += Duration::from_micros(rests);
            for change in [after_run, precedence.rested(now)].into_iter().flatten() {
                assert_ne!(before, change);
                (before, changes) = (change, changes + 1);
            }
        }
        (first.as_secs_f64(), changes)
    }

    #[test]
    fn who_rests_as_long_as_it_runs_stays_before_others() {
        assert_eq!(live(100, 100).1, 0);
        assert_eq!(live(20, 1000).1, 0);
        // A burst.
        assert_eq!(live(5000, 6000).1, 0);
    }

    #[test]
    fn who_hardly_rests_is_not_before_others_for_more_than_half_of_the_time() {
        for (runs, rests) in [(100, 20), (100, 1), (1000, 0), (60, 40)] {
            let (first, changes) = live(runs, rests);
            assert!(first <= 0.52, "{first} of {runs} and {rests}");
            assert!(changes <= 200, "{changes} of {runs} and {rests}");
        }
    }

    #[test]
    fn who_never_rests_is_in_turn_soon() {
        let start = Instant::now();
        let mut precedence = Precedence::new(start);
        assert_eq!(precedence.ran(start + SAVED_MOST / 2), None);
        assert_eq!(precedence.ran(start + SAVED_MOST), Some(false));
        assert_eq!(precedence.ran(start + Duration::from_secs(10)), None);
        assert_eq!(precedence.rested(start + Duration::from_secs(11)), Some(true));
    }
}
