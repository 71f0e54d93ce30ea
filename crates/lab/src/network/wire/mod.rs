//! A wire: two interfaces, a path each way between them, and a thread for each that carries packets.

mod counters;
mod forwarder;
mod line;
mod precedence;
mod vigil;
#[allow(clippy::module_inception, reason = "the file holds the wire itself")]
mod wire;

pub use counters::{DirectionCounters, ElementCounters, Lateness, WireCounters};
pub use wire::Wire;
