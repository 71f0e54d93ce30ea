//! Packets that arrive damaged: a receiver finds their checksum wrong.

use std::collections::VecDeque;
use std::time::Instant;

use crate::hits::hits;
use crate::loss::Independent;
use crate::{Counters, Element, Packet, Random, Segments};

/// Flips a bit of some packets; of a super-packet in single segments.
#[derive(Debug)]
pub struct Corruption<B> {
    rule: Independent,
    /// Chooses the bits.
    random: Random,
    ready: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Corruption<B> {
    /// Each packet with that probability.
    pub fn new(probability: f64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let rule = Independent::new(probability, random.bits());
        Self { rule, random, ready: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send + Segments> Element<B> for Corruption<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let (ready, random, corrupted) = (&mut self.ready, &mut self.random, &mut self.counters.corrupted);
        hits(packet, &mut self.rule, |hit, mut packet| {
            if hit {
                packet.body.corrupt(random);
                corrupted.count(&packet);
            }
            ready.push_back((now, packet));
        });
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
        "corruption"
    }
}
