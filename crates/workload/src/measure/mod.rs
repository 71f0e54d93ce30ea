//! Figures: how long calls took, what they cost this process, and on which machine.

mod classic;
mod latencies;
mod machine;
mod other_load;
mod processor;
mod spread;

pub use classic::{Bucket, Classic};
pub use latencies::{Latencies, LatencySummary, Percentile};
pub use machine::Machine;
pub use other_load::{CpuLook, OtherLoad};
pub use processor::Processor;
pub use spread::Spread;
