//! Packets that arrive damaged: a receiver finds their checksum wrong.

use std::time::Instant;

use crate::at_once::{AtOnce, Rule};
use crate::hits::hits;
use crate::loss::Independent;
use crate::{Counters, Packet, Random, Segments};

/// Flips a bit of some packets; of a super-packet in single segments.
#[derive(Debug)]
pub struct Corruption {
    chance: Independent,
    /// Chooses the bits.
    random: Random,
}

impl Corruption {
    /// Each packet with that probability.
    pub fn new<B>(probability: f64, seed: u64) -> AtOnce<B, Self> {
        let mut random = Random::new(seed);
        let chance = Independent::new(probability, random.number());
        AtOnce::by(Self { chance, random })
    }
}

impl<B: Segments> Rule<B> for Corruption {
    const NAME: &'static str = "corruption";

    fn meet(
        &mut self,
        _: Instant,
        packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        hits(packet, &mut self.chance, |hit, mut packet| {
            if hit {
                packet.body.corrupt(&mut self.random);
                counters.corrupted.count(&packet);
            }
            pass(packet);
        });
    }
}
