//! Packets that arrive twice.

use std::collections::VecDeque;
use std::time::Instant;

use crate::hits::hits;
use crate::loss::Independent;
use crate::{Counters, Element, Packet, Segments};

/// Sends some packets on twice, one right after the other; of a super-packet single segments.
#[derive(Debug)]
pub struct Duplication<B> {
    rule: Independent,
    ready: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Duplication<B> {
    /// Each packet with that probability.
    pub fn new(probability: f64, seed: u64) -> Self {
        let rule = Independent::new(probability, seed);
        Self { rule, ready: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send + Segments> Element<B> for Duplication<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let (ready, copied) = (&mut self.ready, &mut self.counters.copied);
        hits(packet, &mut self.rule, |twice, packet| {
            if twice {
                copied.count(&packet);
                ready.push_back((now, packet.clone()));
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
        "duplication"
    }
}
