//! What an element did, counted: the same counters for every element, so that a report needs to know none of them.

use serde::{Deserialize, Serialize};

use crate::Packet;

/// Packets (each segment of a super-packet is one), and their bytes on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl std::ops::Sub for Tally {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// What an element did. `arrived + copied = left + dropped +` what it still holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets that came in.
    pub arrived: Tally,
    /// Packets that went out.
    pub left: Tally,
    /// Packets that ended here.
    pub dropped: Tally,
    /// Packets made here.
    pub copied: Tally,
    /// Packets damaged here.
    pub corrupted: Tally,
    /// Packets that others were let past.
    pub held_back: Tally,
}

impl Counters {
    /// What is in it now.
    pub fn held(&self) -> Tally {
        self.arrived + self.copied - self.left - self.dropped
    }

    /// Adds what an element of a path did to packets; those that came and went are the path's own to count.
    pub(crate) fn add_deeds(&mut self, of: &Self) {
        self.dropped = self.dropped + of.dropped;
        self.copied = self.copied + of.copied;
        self.corrupted = self.corrupted + of.corrupted;
        self.held_back = self.held_back + of.held_back;
    }
}
