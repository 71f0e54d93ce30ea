//! The element of all that happens to a packet in the moment in which it comes, and delays nothing: what happens is its
//! rule's to say, all else is here.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Instant;

use crate::{Counters, Element, Packet, Refused};

/// What happens to packets.
pub trait Rule<B>: Debug + Send {
    /// What the element is called in reports.
    const NAME: &'static str;

    /// A packet comes, and is counted already. What is left of it is to `pass` now; what is done to it is to be counted.
    fn meet(&mut self, now: Instant, packet: Packet<B>, counters: &mut Counters, pass: impl FnMut(Packet<B>));

    /// As [`Element::refused`].
    fn refused(&mut self) -> Option<Refused<B>> {
        None
    }
}

/// An element that acts on packets by such a rule as they come.
#[derive(Debug)]
pub struct AtOnce<B, R> {
    rule: R,
    passed: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B, R> AtOnce<B, R> {
    pub(crate) fn by(rule: R) -> Self {
        Self { rule, passed: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B: Debug + Send, R: Rule<B>> Element<B> for AtOnce<B, R> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let passed = &mut self.passed;
        self.rule.meet(now, packet, &mut self.counters, |packet| passed.push_back((now, packet)));
    }

    fn poll(&mut self, _: Instant) -> Option<(Instant, Packet<B>)> {
        let (at, packet) = self.passed.pop_front()?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.passed.front().map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        R::NAME
    }

    fn refused(&mut self) -> Option<Refused<B>> {
        self.rule.refused()
    }
}
