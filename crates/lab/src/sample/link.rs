//! What the elements of all wires did.

use std::time::Duration;

use crate::network::{LabNetwork, Lateness};
use crate::record::{Late, LinkCount, LinkSample};

/// What each element of each wire did so far.
pub fn counts(network: &LabNetwork) -> Vec<LinkCount> {
    let mut counts = Vec::new();
    for (name, wire) in network.wires() {
        for (direction, counted) in wire.counters().directions() {
            counts.extend(counted.elements.iter().map(|element| LinkCount {
                wire: name.clone(),
                direction: direction.to_owned(),
                element: element.name.clone(),
                counters: element.counters,
                late: None,
            }));
            // The last one is where packets leave the wire.
            if let Some(last) = counts.last_mut() {
                last.late = late(&counted.late);
            }
        }
    }
    counts
}

/// None where the path delays nothing, so that nothing can be late.
fn late(lateness: &Lateness) -> Option<Late> {
    let seconds = |part: f64| lateness.quantile(part).as_secs_f64();
    (lateness.most > 0).then(|| Late {
        half_seconds: seconds(0.5),
        nearly_all_seconds: seconds(0.99),
        most_seconds: Duration::from_nanos(lateness.most).as_secs_f64(),
        exact_part: lateness.exact(),
    })
}

/// The same as lines of a series.
pub fn samples(at: f64, network: &LabNetwork) -> impl Iterator<Item = LinkSample> {
    counts(network).into_iter().map(move |LinkCount { wire, direction, element, counters, .. }| LinkSample {
        at,
        wire,
        direction,
        element,
        queued_bytes: counters.held().bytes,
        left_bytes: counters.left.bytes,
        dropped_packets: counters.dropped.packets,
    })
}
