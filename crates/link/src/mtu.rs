//! The largest packet that passes.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Counters, Element, FRAME_OVERHEAD, Packet, Refused, Segments, TooLarge};

/// So many refused packets are kept for whoever tells their senders; routers, too, report at a limited rate (RFC 1812
/// 4.3.2.8).
const MOST_REFUSED: usize = 64;

/// Drops what is larger than it lets pass.
#[derive(Debug)]
pub struct Mtu<B> {
    size: usize,
    too_large: TooLarge,
    ready: VecDeque<(Instant, Packet<B>)>,
    refused: VecDeque<Packet<B>>,
    counters: Counters,
}

impl<B> Mtu<B> {
    /// Lets packets of so many bytes pass, IP header included and framing not.
    pub fn new(size: usize, too_large: TooLarge) -> Self {
        Self {
            size,
            too_large,
            ready: VecDeque::new(),
            refused: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    fn refuse(&mut self, packet: Packet<B>) {
        self.counters.dropped.count(&packet);
        if self.too_large == TooLarge::Reported && self.refused.len() < MOST_REFUSED {
            self.refused.push_back(packet);
        }
    }
}

impl<B: std::fmt::Debug + Send + Segments> Element<B> for Mtu<B> {
    fn push(&mut self, now: Instant, mut packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        let most = self.size.saturating_add(FRAME_OVERHEAD);
        if packet.frame_bytes <= most {
            return self.ready.push_back((now, packet));
        }
        if packet.segments > 1 && packet.last_frame_bytes() <= most {
            let full = packet.split_first(packet.segments - 1);
            self.refuse(full);
            return self.ready.push_back((now, packet));
        }
        self.refuse(packet);
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
        "mtu"
    }

    fn refused(&mut self) -> Option<Refused<B>> {
        self.refused.pop_front().map(|packet| Refused { mtu: self.size, packet })
    }
}
