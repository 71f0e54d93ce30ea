//! What limits a connection: one word per direction, and the rules that find it.

mod explain;
mod history;
mod judge;
mod losses;
mod receiving;
mod sending;
mod server;
mod steady;
mod word;

pub use explain::{Direction, Explanation};
pub use judge::{Judge, Judgement};
pub use word::Verdict;
