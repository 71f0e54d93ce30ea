//! A line that is down at times: whatever comes then is lost.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::{Counters, Element, Packet};

/// Up for a while and then down for a while, from the first packet on.
#[derive(Debug)]
pub struct Outages<B> {
    down: Duration,
    every: Duration,
    began: Option<Instant>,
    ready: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Outages<B> {
    /// Down for the last `down` of `every`, which is longer.
    pub fn new(down: Duration, every: Duration) -> Self {
        assert!(down < every, "a line that is never up is none");
        Self { down, every, began: None, ready: VecDeque::new(), counters: Counters::default() }
    }

    fn is_down(&mut self, now: Instant) -> bool {
        let since = now - *self.began.get_or_insert(now);
        let into = since.as_nanos() % self.every.as_nanos();
        into >= (self.every - self.down).as_nanos()
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Outages<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        if self.is_down(now) {
            self.counters.dropped.count(&packet);
        } else {
            self.ready.push_back((now, packet));
        }
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
        "schedule"
    }
}
