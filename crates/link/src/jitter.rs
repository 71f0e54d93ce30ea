//! A delay that differs from packet to packet, but lets none overtake another.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::due::take_due;
use crate::{Counters, Element, Packet, Random};

/// Delays each packet by a random time, evenly spread from nothing to the most; order is kept.
#[derive(Debug)]
pub struct Jitter<B> {
    most: Duration,
    random: Random,
    held: VecDeque<(Instant, Packet<B>)>,
    /// When the last packet leaves, or left.
    last: Option<Instant>,
    counters: Counters,
}

impl<B> Jitter<B> {
    /// By at most so much.
    pub fn new(most: Duration, seed: u64) -> Self {
        let random = Random::new(seed);
        Self { most, random, held: VecDeque::new(), last: None, counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Jitter<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let at = now + self.most.mul_f64(self.random.fraction());
        let at = self.last.map_or(at, |last| last.max(at));
        self.last = Some(at);
        self.held.push_back((at, packet));
    }

    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)> {
        let (at, packet) = take_due(&mut self.held, now)?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.held.front().map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "jitter"
    }
}
