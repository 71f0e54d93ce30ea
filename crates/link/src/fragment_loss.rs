//! Fragments that get lost. What is left of a datagram travels on, since it is what fills a receiver's memory; a
//! [`Reassembly`](crate::Reassembly) further on drops it.

use std::time::Instant;

use crate::at_once::{AtOnce, Rule};
use crate::loss::Chance;
use crate::{Counters, Packet};

/// Asks a rule of chance for each fragment. A datagram is dropped here only if none of its fragments is left.
#[derive(Debug)]
pub struct FragmentLoss<C> {
    chance: C,
}

impl<C: Chance> FragmentLoss<C> {
    /// By that rule.
    pub fn new<B>(chance: C) -> AtOnce<B, Self> {
        AtOnce::by(Self { chance })
    }
}

impl<B, C: Chance> Rule<B> for FragmentLoss<C> {
    const NAME: &'static str = "fragment loss";

    fn meet(
        &mut self,
        _: Instant,
        mut packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        let present = packet.fragments - packet.missing;
        packet.missing += (0..present).filter(|_| self.chance.loses_next()).count() as u32;
        if packet.missing == packet.fragments {
            counters.dropped.count(&packet);
        } else {
            pass(packet);
        }
    }
}
