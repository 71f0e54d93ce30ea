//! Answers writes before they reached a far server, so that its round trips overlap; COMMIT waits for them.

mod file;
mod layer;
mod shared;

pub use layer::WriteBehind;
pub use shared::{WriteBehindOptions, WriteBehindReport};
