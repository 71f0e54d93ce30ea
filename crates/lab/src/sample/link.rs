//! What the elements of all wires did.

use crate::network::Network;
use crate::record::{LinkCount, LinkSample};

/// What each element of each wire did so far.
pub fn counts(network: &Network) -> Vec<LinkCount> {
    let mut counts = Vec::new();
    for (name, wire) in network.wires() {
        for (direction, counted) in wire.counters().directions() {
            counts.extend(counted.elements.iter().map(|element| LinkCount {
                wire: name.clone(),
                direction: direction.to_owned(),
                element: element.name.clone(),
                counters: element.counters,
            }));
        }
    }
    counts
}

/// The same as lines of a series.
pub fn samples(at: f64, network: &Network) -> impl Iterator<Item = LinkSample> {
    counts(network).into_iter().map(move |LinkCount { wire, direction, element, counters }| LinkSample {
        at,
        wire,
        direction,
        element,
        queued_bytes: counters.held().bytes,
        left_bytes: counters.left.bytes,
        dropped_packets: counters.dropped.packets,
    })
}
