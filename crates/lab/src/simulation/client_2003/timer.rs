//! When a call is sent again. Times are counted in ticks of 10 ms: a kernel of that time measured with its clock
//! interrupt (100 Hz).

use std::time::Duration;

use super::super::TimerRule;

/// A tick of the clock.
pub const TICK: Duration = Duration::from_millis(10);
/// What mounts waited for by default (`timeo=7`): 0.7 s.
const INITIAL: u32 = 70;
/// Of that, what counts as variation before anything is measured: 0.2 s.
const INITIAL_VARIATION: u32 = 20;
/// The least that counts as variation: two ticks, or 100 ms.
const FLOOR: u32 = 2;
const HIGHER_FLOOR: u32 = 10;
/// Waits do not double beyond a minute.
const MOST: u32 = 6_000;

/// How long to wait for an answer: an estimator of round trips and their variation, or always the same.
#[derive(Debug)]
pub struct Timer {
    /// `None`: nothing is learned.
    floor: Option<u32>,
    /// Eight times the smoothed round trip.
    round_trip: u32,
    /// Four times its mean deviation.
    variation: u32,
}

impl Timer {
    /// By one of the old rules.
    pub fn new(rule: TimerRule) -> Self {
        let floor = match rule {
            TimerRule::Fixed | TimerRule::Today => None,
            TimerRule::Ratchet => Some(FLOOR),
            TimerRule::RatchetWithFloor => Some(HIGHER_FLOOR),
        };
        Self { floor, round_trip: (INITIAL - INITIAL_VARIATION) * 8, variation: INITIAL_VARIATION }
    }

    /// A call that was sent once was answered after so many ticks. Of calls that were sent again nothing is learned,
    /// since nobody knows which sending was answered (Karn's rule): so of slow answers nothing is ever learned.
    pub fn sample(&mut self, ticks: u32) {
        let Some(floor) = self.floor else { return };
        let ticks = ticks.max(1);
        let smoothed = self.round_trip / 8;
        let deviation = ticks.abs_diff(smoothed);
        self.round_trip = self.round_trip + ticks - smoothed;
        self.variation = (self.variation + deviation - self.variation / 4).max(floor);
    }

    /// How many ticks to wait after the `sends`-th time.
    pub fn wait(&self, sends: u32) -> u32 {
        let first = self.round_trip / 8 + self.variation;
        first.saturating_mul(1 << (sends - 1).min(12)).min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_with_what_the_mount_says() {
        for rule in [TimerRule::Fixed, TimerRule::Ratchet, TimerRule::RatchetWithFloor] {
            let timer = Timer::new(rule);
            assert_eq!((timer.wait(1), timer.wait(2), timer.wait(3)), (70, 140, 280));
        }
    }

    #[test]
    fn quick_answers_ratchet_it_down() {
        // To 40 ms, as was measured: of a variation of three ticks a quarter is none.
        for (rule, expected) in
            [(TimerRule::Fixed, 70), (TimerRule::Ratchet, 4), (TimerRule::RatchetWithFloor, 11)]
        {
            let mut timer = Timer::new(rule);
            (0..200).for_each(|_| timer.sample(0));
            assert_eq!(timer.wait(1), expected, "{rule}");
        }
    }

    #[test]
    fn a_slow_answer_would_raise_it_if_it_counted() {
        let mut timer = Timer::new(TimerRule::Ratchet);
        (0..200).for_each(|_| timer.sample(0));
        timer.sample(30);
        assert!(timer.wait(1) > 30);
    }
}
