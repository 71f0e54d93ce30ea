//! Listing a directory that may mean ill: batches of bounded size, and circles that are found in constant memory.

mod batches;
mod circle;

pub use batches::{Batch, BatchError, Batches};
pub use circle::Circle;
