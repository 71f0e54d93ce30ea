//! What the server has to do because of an answer.

mod effect;
mod record;

pub use effect::{ClientEnd, Effect, Effects, LockGrant, MirrorPiece, Serial};
pub use record::DurableRecord;
