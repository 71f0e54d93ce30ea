//! `cargo xtask bench memory`: many connections that rest and some that read in bulk over a long path, and what the kernel holds
//! for all of them beside the budget that the server was given.

mod reader;
mod run;

pub use run::run;
