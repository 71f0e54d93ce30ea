//! The back channel: calls that the server makes, and what becomes of them.
//!
//! `answer` reads a call and writes its reply. `back_channel` is what it acts on, shared by the threads of the channel, which answer
//! calls, and by the thread that looks after the session.

mod answer;
mod back_channel;

pub(super) use back_channel::{CALLBACK_PROGRAM, CallbackChannel, OFFERED};
