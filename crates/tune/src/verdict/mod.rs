//! What limits a connection: one word per direction, and the rules that find it.

mod history;
mod judge;
mod receiving;
mod sending;
mod word;

pub use judge::{Judge, Judgement};
pub use word::Verdict;
