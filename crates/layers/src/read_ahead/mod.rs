//! Reads ahead of whoever reads a file from front to back, so that a far server's round trips overlap.

mod blocks;
mod layer;
mod streams;

pub use layer::{ReadAhead, ReadAheadOptions, ReadAheadReport};
