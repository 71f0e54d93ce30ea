//! What a directory must hold, known from the calls that were answered: names, nodes, bytes, and which of the bytes may be
//! lost. A worker has a *territory* of its own, so its calls follow each other and at most one of them is open.

mod act;
mod choose;
mod compare;
mod content;
mod tree;

pub use act::{Act, How, split};
pub use choose::{Extent, choose};
pub use compare::{Found, named};
pub use tree::{Answered, Kind, NodeId, World};
