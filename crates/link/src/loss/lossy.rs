//! The element that loses packets.

use std::collections::VecDeque;
use std::time::Instant;

use super::Chance;
use crate::hits::hits;
use crate::{Counters, Element, Packet, Segments};

/// Loses packets by a rule of chance; of a super-packet single segments.
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

impl<B: std::fmt::Debug + Send + Segments, C: Chance> Element<B> for Loss<B, C> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let (kept, dropped) = (&mut self.kept, &mut self.counters.dropped);
        hits(packet, &mut self.chance, |lost, packet| match lost {
            true => dropped.count(&packet),
            false => kept.push_back((now, packet)),
        });
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
