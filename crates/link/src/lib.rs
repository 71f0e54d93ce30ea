//! A path of a network as a model: elements, chained, one chain per direction. Pure and seeded: time and packets come in
//! as arguments, and the same seed gives the same path.
//!
//! Whoever drives a [`Path`] pushes packets into it, polls what leaves it, and sleeps until the next event. It does not
//! matter how late it polls: each packet leaves with the time at which it should have left.

mod corruption;
mod counters;
mod delay;
mod due;
mod duplication;
mod element;
mod ethernet;
mod fragment_loss;
mod hits;
mod jitter;
pub mod loss;
mod mtu;
mod outages;
mod overtaking;
mod packet;
mod path;
mod profile;
pub mod quantity;
pub mod queue;
mod random;
pub mod rate;
mod reassembly;
mod reordering;
mod segments;
mod spec;

pub use corruption::Corruption;
pub use counters::{Counters, Tally};
pub use delay::Delay;
pub use duplication::Duplication;
pub use element::{Element, Refused};
pub use ethernet::{Ethernet, FRAME_OVERHEAD};
pub use fragment_loss::FragmentLoss;
pub use jitter::Jitter;
pub use mtu::Mtu;
pub use outages::Outages;
pub use packet::Packet;
pub use path::Path;
pub use profile::{Profile, profile, profiles};
pub use queue::{CoDel, DropTail, Queue};
pub use random::Random;
pub use rate::Rate;
pub use reassembly::Reassembly;
pub use reordering::Reordering;
pub use segments::Segments;
pub use spec::{
    BurstsSpec, DirectionSpec, JitterSpec, MtuSpec, OutagesSpec, PathSpec, QueueSpec, RateSpec, ReorderSpec,
    Step, TooLarge,
};
