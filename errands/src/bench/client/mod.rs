//! `cargo xtask bench client`: processor time of our client per byte, beside the smallest loop of bare sends and receives
//! that moves as much (the floor), both against the same server, which has the other core.

mod bare;
mod run;
mod subject;

pub use run::run;

use std::time::Duration;

/// What is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// READ.
    Read,
    /// WRITE, unstable, over data that is there.
    Write,
}

/// What one measurement saw.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    /// Bytes of data.
    pub bytes: u64,
    /// Processor time of this process.
    pub processor: Duration,
    /// How long it took.
    pub elapsed: Duration,
}

impl Moved {
    /// Seconds of processor time per 10^9 bytes.
    pub fn cost(&self) -> f64 {
        self.processor.as_secs_f64() / (self.bytes as f64 / 1e9)
    }

    /// Bytes per second, in 10^9.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / 1e9 / self.elapsed.as_secs_f64()
    }
}
