//! Packets that arrive twice.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Counters, Element, Packet, Random};

/// Sends some packets on twice, one right after the other.
#[derive(Debug)]
pub struct Duplication<B> {
    probability: f64,
    random: Random,
    ready: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Duplication<B> {
    /// Each packet with that probability.
    pub fn new(probability: f64, seed: u64) -> Self {
        let random = Random::new(seed);
        Self { probability, random, ready: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send + Clone> Element<B> for Duplication<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        if self.random.chance(self.probability) {
            self.counters.copied.count(&packet);
            self.ready.push_back((now, packet.clone()));
        }
        self.ready.push_back((now, packet));
    }

    fn poll(&mut self, _: Instant) -> Option<(Instant, Packet<B>)> {
        let (at, packet) = self.ready.pop_front()?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.ready.front().map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "duplication"
    }
}
