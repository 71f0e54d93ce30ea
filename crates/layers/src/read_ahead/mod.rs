//! Reads ahead of programs that read a file from front to back, so that a far server's round trips overlap.

mod blocks;
mod layer;
mod streams;

pub use layer::{ReadAhead, ReadAheadOptions, ReadAheadReport};
