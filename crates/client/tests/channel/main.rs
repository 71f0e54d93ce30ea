//! Channels to howdah's own server, and to servers that behave badly.

mod calls;
mod misbehaviour;
mod restarts;
mod scripted;
mod served;
mod waiting;
