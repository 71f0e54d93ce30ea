//! A line that sends one packet after another, each for as long as its bytes take; the others wait in its queue.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Instant;

use super::{Constant, Pace};
use crate::{Counters, Element, Packet, Queue, Segments};

/// Sends packets one by one at a bit rate. A super-packet that takes long leaves in parts.
#[derive(Debug)]
pub struct Rate<B, Q, P = Constant> {
    pace: P,
    queue: Q,
    /// What is being sent, and when its last bit leaves.
    sending: Option<(Instant, Packet<B>)>,
    sent: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B: Debug + Send + Segments, Q: Queue<B>> Rate<B, Q> {
    /// A line of that rate with that queue before it.
    pub fn new(bits_per_second: u64, queue: Q) -> Self {
        Self::paced(Constant::new(bits_per_second), queue)
    }
}

impl<B: Debug + Send + Segments, Q: Queue<B>, P: Pace> Rate<B, Q, P> {
    /// A line whose rate changes.
    pub fn paced(pace: P, queue: Q) -> Self {
        Self { pace, queue, sending: None, sent: VecDeque::new(), counters: Counters::default() }
    }

    fn start(&mut self, at: Instant, packet: Packet<B>) {
        let frames = packet.segments.max(packet.fragments);
        self.sending = Some((self.pace.sends(at, packet.bytes, frames), packet));
    }

    /// Sends a packet that found the line free; what of it is not sent at once waits.
    fn start_first(&mut self, now: Instant, mut packet: Packet<B>) {
        if let Some(segments) = packet.within(self.pace.most_at_once(now)) {
            let first = packet.split_first(segments);
            self.start(now, first);
            return self.wait(now, packet);
        }
        self.start(now, packet);
    }

    fn wait(&mut self, now: Instant, packet: Packet<B>) {
        let dropped = &mut self.counters.dropped;
        self.queue.offer(now, packet, &mut |packet| dropped.count(&packet));
    }

    /// Ends what has ended by now, and starts what could start before.
    fn advance(&mut self, now: Instant) {
        while let Some((at, packet)) = self.sending.take_if(|(at, _)| *at <= now) {
            self.sent.push_back((at, packet));
            let most = self.pace.most_at_once(at);
            let dropped = &mut self.counters.dropped;
            if let Some(next) = self.queue.take(at, most, &mut |packet| dropped.count(&packet)) {
                self.start(at, next);
            }
        }
    }
}

impl<B: Debug + Send + Segments, Q: Queue<B>, P: Pace> Element<B> for Rate<B, Q, P> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        self.advance(now);
        match self.sending {
            None => self.start_first(now, packet),
            Some(_) => self.wait(now, packet),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)> {
        self.advance(now);
        let (at, packet) = self.sent.pop_front()?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.sent.front().or(self.sending.as_ref()).map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "rate"
    }
}
