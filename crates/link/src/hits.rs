//! Chance meets super-packets: what happens to packets happens to their segments one by one.

use crate::loss::Chance;
use crate::{Packet, Segments};

/// Asks a rule of chance for every segment. Gives each one that is hit by itself, and those between in runs as long as
/// they can be, all in their order; a packet of which nothing is hit stays as it is.
pub fn hits<B: Segments>(
    mut packet: Packet<B>,
    rule: &mut impl Chance,
    mut each: impl FnMut(bool, Packet<B>),
) {
    loop {
        let spared = rule.spares(packet.segments);
        if spared == packet.segments {
            return each(false, packet);
        }
        if spared > 0 {
            each(false, packet.split_first(spared));
        }
        if packet.segments == 1 {
            return each(true, packet);
        }
        each(true, packet.split_first(1));
    }
}
