//! The element that loses packets.

use std::time::Instant;

use super::Chance;
use crate::at_once::{AtOnce, Rule};
use crate::hits::hits;
use crate::{Counters, Packet, Segments};

/// Loses packets by a rule of chance; of a super-packet single segments.
#[derive(Debug)]
pub struct Loss<C> {
    chance: C,
}

impl<C: Chance> Loss<C> {
    /// By that rule.
    pub fn new<B>(chance: C) -> AtOnce<B, Self> {
        AtOnce::by(Self { chance })
    }
}

impl<B: Segments, C: Chance> Rule<B> for Loss<C> {
    const NAME: &'static str = "loss";

    fn meet(
        &mut self,
        _: Instant,
        packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        hits(packet, &mut self.chance, |lost, packet| match lost {
            true => counters.dropped.count(&packet),
            false => pass(packet),
        });
    }
}
