//! What limits a connection, and how large its buffers should be. Pure: samples come in as arguments, with the time at which
//! they were taken; sizes and verdicts go out, and the owner of the socket applies them.
//!
//! The rules follow from what Linux does (`docs/decisions/0008-sizes.md`): buffers are promised early instead of grown by
//! probing, a send buffer is a ceiling over a low mark of unsent bytes, and a window is taken back in the one order that loses
//! nothing.

pub mod account;
pub mod budget;
pub mod flight;
pub mod floor;
pub mod host;
mod interval;
pub mod meter;
pub mod paths;
mod recorded;
mod sample;
mod seconds;
pub mod sizes;
mod tuner;
mod verdict;

pub use interval::Interval;
pub use recorded::Recorded;
pub use sample::{Gauges, PathState, Receiving, Sample, Sending};
pub use sizes::{Algorithm, Setting, SizeChange};
pub use tuner::{Client, Connection, Own, REMEMBERED, Settings, Totals, Tuner, UNKNOWN};
pub use verdict::{Direction, Explanation, Judge, Judgement, Verdict};
