//! Elements one after another: what leaves one enters the next. Two directions are two paths.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Counters, Element, Packet};

/// One direction of a path. It is an element itself.
#[derive(Debug)]
pub struct Path<B> {
    elements: Vec<Box<dyn Element<B>>>,
    /// What has passed all elements.
    through: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Default for Path<B> {
    fn default() -> Self {
        Self { elements: Vec::new(), through: VecDeque::new(), counters: Counters::default() }
    }
}

impl<B> Path<B> {
    /// A path that does nothing to packets.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more element at its end.
    #[must_use]
    pub fn then(mut self, element: impl Element<B> + 'static) -> Self {
        self.elements.push(Box::new(element));
        self
    }

    /// Name and counters of each element.
    pub fn report(&self) -> impl Iterator<Item = (&'static str, Counters)> {
        self.elements.iter().map(|element| (element.name(), element.counters()))
    }

    /// Moves on what has left an element by now.
    fn advance(&mut self, now: Instant) {
        for index in 0..self.elements.len() {
            while let Some((at, packet)) = self.elements[index].poll(now) {
                match self.elements.get_mut(index + 1) {
                    Some(next) => next.push(at, packet),
                    None => self.through.push_back((at, packet)),
                }
            }
        }
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Path<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        // What left an element before this packet enters must be in the next one before this packet can be.
        self.advance(now);
        match self.elements.first_mut() {
            Some(first) => first.push(now, packet),
            None => self.through.push_back((now, packet)),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)> {
        if self.through.is_empty() {
            self.advance(now);
        }
        let (at, packet) = self.through.pop_front()?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        let waiting = self.through.front().map(|(at, _)| *at);
        self.elements.iter().filter_map(|element| element.next_event()).chain(waiting).min()
    }

    fn counters(&self) -> Counters {
        let mut counters = self.counters;
        for (_, element) in self.report() {
            counters.dropped.packets += element.dropped.packets;
            counters.dropped.bytes += element.dropped.bytes;
            counters.copied.packets += element.copied.packets;
            counters.copied.bytes += element.copied.bytes;
            counters.held_back.packets += element.held_back.packets;
            counters.held_back.bytes += element.held_back.bytes;
        }
        counters
    }

    fn name(&self) -> &'static str {
        "path"
    }
}
