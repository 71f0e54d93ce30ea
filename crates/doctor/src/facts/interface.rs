//! A network interface.

use serde::{Deserialize, Serialize};

/// An interface that is up, and is not loopback.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceFacts {
    /// What it is called.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Whether packets to the server leave by it.
    pub leads_to_server: bool,
    /// Bits per second of the link; virtual ones have none.
    pub bits_per_second: Option<u64>,
    /// Whether both ways can be used at a time.
    pub is_full_duplex: Option<bool>,
    /// The longest packet in bytes.
    pub mtu: Option<u64>,
    /// The ring of what is received.
    pub receive_ring: Option<RingFacts>,
    /// The ring of what is sent.
    pub send_ring: Option<RingFacts>,
    /// Offloads that are off, of those that it has.
    pub offloads_off: Vec<String>,
    /// Packets, both ways, since it began.
    pub packets: u64,
    /// Of them damaged.
    pub errors: u64,
    /// Received ones that were thrown away.
    pub receive_drops: u64,
    /// Ones to send that were thrown away.
    pub send_drops: u64,
}

/// Descriptors of a ring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingFacts {
    /// How many there are.
    pub now: u32,
    /// How many there can be.
    pub most: u32,
}
