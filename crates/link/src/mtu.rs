//! The largest packet that passes.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Instant;

use crate::at_once::{AtOnce, Rule};
use crate::{Counters, FRAME_OVERHEAD, Packet, Refused, Segments, TooLarge};

/// So many refused packets are kept for reports to their senders; routers, too, report at a limited rate (RFC 1812 4.3.2.8).
const MOST_REFUSED: usize = 64;

/// Drops what is larger than it lets pass.
#[derive(Debug)]
pub struct Mtu<B> {
    size: usize,
    too_large: TooLarge,
    refused: VecDeque<Packet<B>>,
}

impl<B> Mtu<B> {
    /// Lets packets of so many bytes pass, IP header included and framing not.
    pub fn new(size: usize, too_large: TooLarge) -> AtOnce<B, Self> {
        AtOnce::by(Self { size, too_large, refused: VecDeque::new() })
    }

    fn refuse(&mut self, packet: Packet<B>, counters: &mut Counters) {
        counters.dropped.count(&packet);
        if self.too_large == TooLarge::Reported && self.refused.len() < MOST_REFUSED {
            self.refused.push_back(packet);
        }
    }
}

impl<B: Debug + Send + Segments> Rule<B> for Mtu<B> {
    const NAME: &'static str = "mtu";

    fn meet(
        &mut self,
        _: Instant,
        mut packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        let most = self.size.saturating_add(FRAME_OVERHEAD);
        if packet.frame_bytes <= most {
            return pass(packet);
        }
        if packet.segments > 1 && packet.last_frame_bytes() <= most {
            let full = packet.split_first(packet.segments - 1);
            self.refuse(full, counters);
            return pass(packet);
        }
        self.refuse(packet, counters);
    }

    fn refused(&mut self) -> Option<Refused<B>> {
        self.refused.pop_front().map(|packet| Refused { mtu: self.size, packet })
    }
}
