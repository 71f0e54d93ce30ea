//! Answers changes of names and of small files before a far server has them, and sends them in an order that destroys nothing too early.

mod change;
mod conflict;
mod consistency;
mod grounds;
mod held_data;
mod keeping;
mod layer;
mod listing;
mod listings;
mod log;
mod log_recording;
mod log_refusals;
mod log_sending;
mod look_ahead;
mod making;
mod options;
mod order;
mod outgoing;
mod record;
mod record_bytes;
mod report;
mod restore;
mod sender;
mod shared;
mod taking;
mod tree;
mod vouched;

pub use change::RefusedLater;
pub use layer::{NamesBehind, Settle};
pub use options::BehindOptions;
pub use report::BehindReport;
