//! The data that workloads write: it follows from a seed, does not compress, and every sector of it says where it belongs, so
//! that data in the wrong place, of an earlier pass, or never written is recognized when it is read.

mod generator;
mod header;
mod mismatch;

pub use generator::{Generator, Stamp};
pub use header::{Identity, SECTOR};
pub use mismatch::{FoundBytes, Mismatch};
