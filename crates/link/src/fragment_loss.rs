//! Fragments that get lost. What is left of a datagram travels on, since it is what fills a receiver's memory; a
//! [`Reassembly`](crate::Reassembly) further on drops it.

use std::collections::VecDeque;
use std::time::Instant;

use crate::loss::Chance;
use crate::{Counters, Element, Packet};

/// Asks a rule of chance for each fragment. A datagram is dropped here only if none of its fragments is left.
#[derive(Debug)]
pub struct FragmentLoss<B, C> {
    chance: C,
    kept: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B, C: Chance> FragmentLoss<B, C> {
    /// By that rule.
    pub fn new(chance: C) -> Self {
        Self { chance, kept: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send, C: Chance> Element<B> for FragmentLoss<B, C> {
    fn push(&mut self, now: Instant, mut packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let present = packet.fragments - packet.missing;
        packet.missing += (0..present).filter(|_| self.chance.loses_next()).count() as u32;
        if packet.missing == packet.fragments {
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
        "fragment loss"
    }
}
