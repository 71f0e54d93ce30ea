//! NSM version 1, by which hosts notify each other that they restarted, so that locks are freed and reclaimed (X/Open C702
//! chapter 11): one file per procedure, with its number, its arguments and its reply, and both directions of coding.
//!
//! A host's state number is odd while it is up, and rises at each start.

pub mod mon;
pub mod notify;
pub mod simu_crash;
pub mod stat;
mod types;
pub mod unmon;
pub mod unmon_all;

pub use types::{Monitor, MonitorName, Monitored, MonitoringResult};

/// The RPC program number.
pub const PROGRAM: u32 = 100_024;
/// The version.
pub const VERSION: u32 = 1;
