//! Answers writes before they reached a far server, so that its round trips overlap; COMMIT waits for them.

mod aging;
mod answer;
mod clock;
mod commit;
mod file;
mod job;
mod known;
mod layer;
mod options;
mod pools;
mod shared;
mod state;
mod with_data;

pub use layer::WriteBehind;
pub use options::{WriteBehindOptions, WriteBehindReport};
