//! The data that workloads write: it follows from a seed, does not compress, and every sector of it says where it
//! belongs, so that data in the wrong place, of an earlier pass, or never written is told apart when it is read.

mod generator;
mod header;
mod mismatch;

pub use generator::{Generator, Stamp};
pub use header::Identity;
pub use mismatch::{Found, Mismatch};

/// Bytes that carry one identity: a disk's sector, the smallest thing that storage misplaces.
pub const SECTOR: usize = 512;
