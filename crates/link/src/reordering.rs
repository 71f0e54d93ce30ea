//! Packets that others overtake: some are held back for a while.

use std::time::{Duration, Instant};

use crate::hits::hits;
use crate::loss::Independent;
use crate::overtaking::Overtaking;
use crate::{Counters, Element, Packet, Segments};

/// Holds some packets back, so that those behind them arrive first; of a super-packet single segments.
#[derive(Debug)]
pub struct Reordering<B> {
    rule: Independent,
    hold: Duration,
    held: Overtaking<B>,
    counters: Counters,
}

impl<B> Reordering<B> {
    /// Each packet with that probability, for that time.
    pub fn new(probability: f64, hold: Duration, seed: u64) -> Self {
        let rule = Independent::new(probability, seed);
        Self { rule, hold, held: Overtaking::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send + Segments> Element<B> for Reordering<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let (held, held_back) = (&mut self.held, &mut self.counters.held_back);
        hits(packet, &mut self.rule, |back, packet| {
            if back {
                held_back.count(&packet);
            }
            held.push(if back { now + self.hold } else { now }, packet);
        });
    }

    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)> {
        let (at, packet) = self.held.take_due(now)?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.held.next_event()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "reordering"
    }
}
