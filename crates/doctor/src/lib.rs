//! The ladder: host, interfaces, path, storage, NFS, measured one at a time from below, and which of them limits first.
//!
//! `probe` brings [`facts`]; `judge` makes a [`Report`] of facts and asks nobody; a [`Remedy`] is a setting worth changing,
//! with its reason and how to undo it. It does not know how anything is shown.

pub mod facts;
mod figure;
mod finding;
pub mod judge;
mod need;
pub mod peer;
pub mod probe;
mod remedy;
mod report;
mod rung;
mod send_buffer;

pub use figure::Figure;
pub use finding::Finding;
pub use need::Need;
pub use remedy::{Remedy, apply};
pub use report::{Report, RungReport, Verdict};
pub use rung::Rung;
