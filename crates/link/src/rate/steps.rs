//! One rate after another, again and again.

use std::time::{Duration, Instant};

use super::Pace;
use super::pace::QUANTUM;
use crate::Step;
use crate::quantity::{Bitrate, Span};

/// Bits of a byte, times the nanoseconds of a second.
const BIT_NANOSECONDS: u128 = 8 * 1_000_000_000;

/// Rates that follow each other, and begin again after the last one; the first one begins with the first packet.
#[derive(Debug)]
pub struct Steps {
    steps: Vec<Step>,
    cycle: Duration,
    began: Option<Instant>,
    /// What the last packet took beyond whole nanoseconds.
    rest: u128,
}

impl Steps {
    /// These; in at least one of them something passes.
    pub fn new(steps: Vec<Step>) -> Self {
        let passes = |step: &Step| step.rate.0 > 0 && !step.last.0.is_zero();
        assert!(steps.iter().any(passes), "a line that sends nothing is not a line");
        let cycle = steps.iter().map(|step| step.last.0).sum();
        Self { steps, cycle, began: None, rest: 0 }
    }

    /// The step of that moment, and how long it will last.
    fn at(&self, now: Instant) -> (usize, Duration) {
        let since = self.began.map_or(Duration::ZERO, |began| now - began);
        let mut into = Duration::from_nanos((since.as_nanos() % self.cycle.as_nanos()) as u64);
        for (index, Step { last: Span(last), .. }) in self.steps.iter().enumerate() {
            if into < *last {
                return (index, *last - into);
            }
            into -= *last;
        }
        unreachable!("a time within a cycle is in one of its steps")
    }
}

impl Pace for Steps {
    fn sends(&mut self, start: Instant, bytes: usize, _: u32) -> Instant {
        self.began.get_or_insert(start);
        let mut work = bytes as u128 * BIT_NANOSECONDS + self.rest;
        let (mut index, mut left) = self.at(start);
        let mut at = start;
        loop {
            let rate = u128::from(self.steps[index].rate.0);
            let possible = rate * left.as_nanos();
            if rate > 0 && work <= possible {
                self.rest = work % rate;
                return at + Duration::from_nanos((work / rate) as u64);
            }
            work -= possible;
            at += left;
            index = (index + 1) % self.steps.len();
            left = self.steps[index].last.0;
        }
    }

    fn most_at_once(&self, start: Instant) -> usize {
        let Bitrate(bits) = self.steps[self.at(start).0].rate;
        usize::try_from(Bitrate(bits).bytes_in(QUANTUM)).unwrap_or(usize::MAX)
    }
}
