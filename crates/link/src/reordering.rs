//! Packets that others overtake: some are held back for a while.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::{Counters, Element, Packet, Random};

/// Holds some packets back, so that those behind them arrive first.
#[derive(Debug)]
pub struct Reordering<B> {
    probability: f64,
    hold: Duration,
    random: Random,
    held: BinaryHeap<Held<B>>,
    order: u64,
    counters: Counters,
}

impl<B> Reordering<B> {
    /// Each packet with that probability, for that time.
    pub fn new(probability: f64, hold: Duration, seed: u64) -> Self {
        let random = Random::new(seed);
        Self { probability, hold, random, held: BinaryHeap::new(), order: 0, counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Reordering<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let mut at = now;
        if self.random.chance(self.probability) {
            self.counters.held_back.count(&packet);
            at += self.hold;
        }
        self.order += 1;
        self.held.push(Held { at, order: self.order, packet });
    }

    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)> {
        let first = self.held.peek_mut().filter(|held| held.at <= now)?;
        let Held { at, packet, .. } = std::collections::binary_heap::PeekMut::pop(first);
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.held.peek().map(|held| held.at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "reordering"
    }
}

/// A packet and when it leaves; those that leave at the same time do so in the order in which they came.
#[derive(Debug)]
struct Held<B> {
    at: Instant,
    order: u64,
    packet: Packet<B>,
}

impl<B> Ord for Held<B> {
    fn cmp(&self, other: &Self) -> Ordering {
        // A heap gives the greatest first.
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl<B> PartialOrd for Held<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B> PartialEq for Held<B> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<B> Eq for Held<B> {}
