//! Where packets wait for a line: what a queue takes, and what it drops.

mod codel;
mod drop_tail;
mod rule;
mod waiting;

pub use codel::CoDel;
pub use drop_tail::DropTail;
pub use rule::Queue;
