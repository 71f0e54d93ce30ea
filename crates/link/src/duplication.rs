//! Packets that arrive twice.

use std::time::Instant;

use crate::at_once::{AtOnce, Rule};
use crate::hits::hits;
use crate::loss::Independent;
use crate::{Counters, Packet, Segments};

/// Sends some packets on twice, one right after the other; of a super-packet single segments.
#[derive(Debug)]
pub struct Duplication {
    chance: Independent,
}

impl Duplication {
    /// Each packet with that probability.
    pub fn new<B>(probability: f64, seed: u64) -> AtOnce<B, Self> {
        AtOnce::by(Self { chance: Independent::new(probability, seed) })
    }
}

impl<B: Segments> Rule<B> for Duplication {
    const NAME: &'static str = "duplication";

    fn meet(
        &mut self,
        _: Instant,
        packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        hits(packet, &mut self.chance, |twice, packet| {
            if twice {
                counters.copied.count(&packet);
                pass(packet.clone());
            }
            pass(packet);
        });
    }
}
