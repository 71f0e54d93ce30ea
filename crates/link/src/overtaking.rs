//! Packets that leave in another order than that in which they came.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::time::Instant;

use crate::Packet;

/// Holds packets, each until a time of its own.
#[derive(Debug)]
pub struct Overtaking<B> {
    held: BinaryHeap<Held<B>>,
    order: u64,
}

impl<B> Overtaking<B> {
    pub fn new() -> Self {
        Self { held: BinaryHeap::new(), order: 0 }
    }

    pub fn push(&mut self, at: Instant, packet: Packet<B>) {
        self.order += 1;
        self.held.push(Held { at, order: self.order, packet });
    }

    /// Who leaves first, if its time has come.
    pub fn take_due(&mut self, now: Instant) -> Option<(Instant, Packet<B>)> {
        let first = self.held.peek_mut().filter(|held| held.at <= now)?;
        let Held { at, packet, .. } = PeekMut::pop(first);
        Some((at, packet))
    }

    pub fn next_event(&self) -> Option<Instant> {
        self.held.peek().map(|held| held.at)
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
