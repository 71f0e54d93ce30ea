//! A line that sends one packet after another, each for as long as its bytes take; the others wait in its queue.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::{Counters, Element, Packet, Queue};

/// What passes at an opportunity of a trace (mahimahi): a packet of 1500 bytes and 4 bytes before it.
pub const OPPORTUNITY_BYTES: usize = 1504;

/// Sends packets one by one at a bit rate.
#[derive(Debug)]
pub struct Rate<B, Q> {
    bits_per_second: u64,
    queue: Q,
    /// What is being sent, and when its last bit leaves.
    sending: Option<(Instant, Packet<B>)>,
    sent: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B: std::fmt::Debug + Send, Q: Queue<B>> Rate<B, Q> {
    /// A line of that rate with that queue before it.
    pub fn new(bits_per_second: u64, queue: Q) -> Self {
        assert!(bits_per_second > 0, "a line that sends nothing is not a line");
        Self { bits_per_second, queue, sending: None, sent: VecDeque::new(), counters: Counters::default() }
    }

    fn start(&mut self, at: Instant, packet: Packet<B>) {
        let nanoseconds = packet.bytes as u128 * 8 * 1_000_000_000 / u128::from(self.bits_per_second);
        let time = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        self.sending = Some((at + time, packet));
    }

    /// Ends what has ended by now, and starts what could start before.
    fn advance(&mut self, now: Instant) {
        while let Some((at, packet)) = self.sending.take_if(|(at, _)| *at <= now) {
            self.sent.push_back((at, packet));
            let dropped = &mut self.counters.dropped;
            if let Some(next) = self.queue.take(at, &mut |packet| dropped.count(&packet)) {
                self.start(at, next);
            }
        }
    }
}

impl<B: std::fmt::Debug + Send, Q: Queue<B>> Element<B> for Rate<B, Q> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        self.advance(now);
        if self.sending.is_none() {
            self.start(now, packet);
        } else if let Err(packet) = self.queue.offer(now, packet) {
            self.counters.dropped.count(&packet);
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
