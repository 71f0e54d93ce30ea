//! Random lists of calls, run on the file system in memory and on a subject alike; the first difference is shrunk.
//!
//! An [`Operation`] names callers, names and nodes out of small universes, so that lists often meet the same node
//! twice. An [`Arena`] lets several threads make such calls at once. Lists come from a seed ([`run_operations`]) or from any bytes ([`from_bytes`], for fuzzers).

mod alike;
mod arena;
mod difference;
mod operation;
mod player;
mod run;
mod seen;
mod tree;
mod universe;

pub use arena::Arena;
pub use difference::Difference;
pub use operation::{Operation, from_bytes};
pub use run::{compare, run_operations};
