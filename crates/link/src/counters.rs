//! What an element did, counted: the same counters for every element, so that a report needs to know none of them.

use serde::{Deserialize, Serialize};

use crate::Packet;

/// Packets (each segment of a super-packet is one), and their bytes on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// How many packets.
    pub packets: u64,
    /// How many bytes in all.
    pub bytes: u64,
}

impl Tally {
    pub(crate) fn count<B>(&mut self, packet: &Packet<B>) {
        self.packets += u64::from(packet.segments);
        self.bytes += packet.bytes as u64;
    }
}

/// What an element did. `arrived + copied = left + dropped +` what it still holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Packets that came in.
    pub arrived: Tally,
    /// Packets that went out.
    pub left: Tally,
    /// Packets that ended here.
    pub dropped: Tally,
    /// Packets made here.
    pub copied: Tally,
    /// Packets that others were let past.
    pub held_back: Tally,
}
