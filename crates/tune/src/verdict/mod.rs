//! What limits a connection: one word per direction, and the rules that find it.

mod capped;
mod explain;
mod history;
mod judge;
mod judgement;
mod losses;
mod receiving;
mod sending;
mod server;
mod steady;
mod word;

pub use explain::Explanation;
pub use judge::Judge;
pub use judgement::{Direction, Judgement};
pub use word::Verdict;
