//! A delay that differs from packet to packet.

use std::time::{Duration, Instant};

use crate::overtaking::Overtaking;
use crate::{Counters, Element, Packet, Random};

/// Delays each packet by a random time, evenly spread from nothing to the most. A super-packet is delayed as one: its
/// segments left the line one right after the other.
#[derive(Debug)]
pub struct Jitter<B> {
    most: Duration,
    random: Random,
    held: Overtaking<B>,
    /// When the last packet leaves, or left: none leaves before it. `None` where packets may overtake.
    last: Option<Instant>,
    keeps_order: bool,
    counters: Counters,
}

impl<B> Jitter<B> {
    /// By at most so much; none overtakes another.
    pub fn new(most: Duration, seed: u64) -> Self {
        let random = Random::new(seed);
        Self {
            most,
            random,
            held: Overtaking::new(),
            last: None,
            keeps_order: true,
            counters: Counters::default(),
        }
    }

    /// The same, but a packet with a shorter delay overtakes those with longer ones.
    #[must_use]
    pub fn overtaking(mut self) -> Self {
        self.keeps_order = false;
        self
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Jitter<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let mut at = now + self.most.mul_f64(self.random.fraction());
        if self.keeps_order {
            at = self.last.map_or(at, |last| last.max(at));
            self.last = Some(at);
        }
        self.held.push(at, packet);
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
        "jitter"
    }
}
