//! Lists directories before programs ask, where the server is far away and a program walks a tree.

mod fetch;
mod layer;
mod report;
mod shared;
mod walk;

pub use layer::ListAhead;
pub use report::ListAheadReport;
