//! The element that loses whole packets.

use std::collections::VecDeque;
use std::time::Instant;

use super::Chance;
use crate::{Counters, Element, Packet};

/// Loses packets by a rule of chance.
#[derive(Debug)]
pub struct Loss<B, C> {
    chance: C,
    kept: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B, C: Chance> Loss<B, C> {
    /// By that rule.
    pub fn new(chance: C) -> Self {
        Self { chance, kept: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send, C: Chance> Element<B> for Loss<B, C> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        if self.chance.loses_next() {
            self.counters.dropped.count(&packet);
        } else {
            self.kept.push_back((now, packet));
        }
    }

    fn poll(&mut self, _: Instant) -> Option<(Instant, Packet<B>)> {
        let (at, packet) = self.kept.pop_front()?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.kept.front().map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "loss"
    }
}
