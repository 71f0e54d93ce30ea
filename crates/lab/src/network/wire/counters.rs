//! What a wire did so far.

use howdah_link::Counters;
use serde::{Deserialize, Serialize};

/// Both directions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCounters {
    /// From the wire's first host to its second.
    pub there: DirectionCounters,
    /// From its second to its first.
    pub back: DirectionCounters,
}

impl WireCounters {
    /// Both, by name.
    pub fn directions(&self) -> [(&'static str, &DirectionCounters); 2] {
        [("there", &self.there), ("back", &self.back)]
    }
}

/// One direction, in the order in which packets come through: what the forwarder took from the sender ("taken", where it
/// drops if it has no memory), the elements of the path, and what the receiver was given ("delivered", where its kernel may
/// refuse). Packets are counted as what they stand for, segments, and bytes as on an Ethernet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionCounters {
    /// Each step.
    pub elements: Vec<ElementCounters>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementCounters {
    /// What it is called.
    pub name: String,
    /// What it did.
    pub counters: Counters,
}
