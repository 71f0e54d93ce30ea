//! Elements one after another: what leaves one enters the next. Two directions are two paths.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Counters, Element, Packet, Refused};

/// One direction of a path. It is an element itself.
#[derive(Debug)]
pub struct Path<B> {
    stages: Vec<Stage<B>>,
    /// What has passed all elements.
    through: VecDeque<(Instant, Packet<B>)>,
    /// When the first element has something to do.
    next: Option<Instant>,
    counters: Counters,
}

/// An element and when it has something to do, so that those that have nothing to do need not be asked.
#[derive(Debug)]
struct Stage<B> {
    next: Option<Instant>,
    element: Box<dyn Element<B>>,
}

impl<B> Default for Path<B> {
    fn default() -> Self {
        Self { stages: Vec::new(), through: VecDeque::new(), next: None, counters: Counters::default() }
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
        self.stages.push(Stage { next: element.next_event(), element: Box::new(element) });
        self.next = self.first_event();
        self
    }

    /// Its elements, in the order in which packets meet them.
    pub fn elements(&self) -> impl Iterator<Item = &dyn Element<B>> {
        self.stages.iter().map(|stage| &*stage.element)
    }

    /// Name and counters of each element.
    pub fn report(&self) -> impl Iterator<Item = (&'static str, Counters)> {
        self.elements().map(|element| (element.name(), element.counters()))
    }

    /// Moves on what has left an element by now.
    fn advance(&mut self, now: Instant) {
        if self.next.is_none_or(|next| next > now) {
            return;
        }
        for index in 0..self.stages.len() {
            let (before, after) = self.stages.split_at_mut(index + 1);
            let stage = &mut before[index];
            if stage.next.is_none_or(|next| next > now) {
                continue;
            }
            let mut following = after.first_mut();
            while let Some((at, packet)) = stage.element.poll(now) {
                match &mut following {
                    Some(stage) => stage.element.push(at, packet),
                    None => self.through.push_back((at, packet)),
                }
            }
            stage.next = stage.element.next_event();
            if let Some(stage) = following {
                stage.next = stage.element.next_event();
            }
        }
        self.next = self.first_event();
    }

    fn first_event(&self) -> Option<Instant> {
        self.stages.iter().filter_map(|stage| stage.next).min()
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Path<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        // What left an element before this packet enters must be in the next one before this packet can be.
        self.advance(now);
        let Some(first) = self.stages.first_mut() else { return self.through.push_back((now, packet)) };
        first.element.push(now, packet);
        first.next = first.element.next_event();
        self.next = self.next.into_iter().chain(first.next).min();
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
        self.through.front().map(|(at, _)| *at).into_iter().chain(self.next).min()
    }

    fn counters(&self) -> Counters {
        let mut counters = self.counters;
        self.report().for_each(|(_, element)| counters.add_deeds(&element));
        counters
    }

    fn name(&self) -> &'static str {
        "path"
    }

    fn refused(&mut self) -> Option<Refused<B>> {
        self.stages.iter_mut().find_map(|stage| stage.element.refused())
    }
}
