//! Captures: a bounded record of calls, for `howdah bench --replay` to play again. Workers copy what a call says of itself into
//! a bounded queue and never wait for it; callers read them out of it, with names hashed ([`Recorder`]). Its format is
//! `howdah_capture`.

mod kept;
mod limits;
mod reader;
mod recorder;
mod running;

pub use kept::Seen;
pub use limits::{CALLS, CALLS_MOST, CAPTURE_ANSWER_MAX, Limits, SECONDS, SECONDS_MOST};
pub use recorder::{AlreadyRuns, Recorder};
pub use running::State;
