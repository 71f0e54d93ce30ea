//! What a path is like, as people write it, and the elements that are built from it.

mod build;
mod bursts;
mod direction;
mod jitter;
mod mtu;
mod outages;
mod path;
mod path_text;
mod queue;
mod rate;
mod reorder;

pub use bursts::BurstsSpec;
pub use direction::DirectionSpec;
pub use jitter::JitterSpec;
pub use mtu::{MtuSpec, TooLarge};
pub use outages::OutagesSpec;
pub use path::PathSpec;
pub use queue::QueueSpec;
pub use rate::{RateSpec, Step};
pub use reorder::ReorderSpec;
