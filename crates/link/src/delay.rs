//! The same delay for every packet: the length of the line.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::due::take_due;
use crate::{Counters, Element, Packet};

/// Delays every packet by the same time.
#[derive(Debug)]
pub struct Delay<B> {
    delay: Duration,
    held: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Delay<B> {
    /// By so much.
    pub fn new(delay: Duration) -> Self {
        Self { delay, held: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Delay<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        self.held.push_back((now + self.delay, packet));
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
        "delay"
    }
}
