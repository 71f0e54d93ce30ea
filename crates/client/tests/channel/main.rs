//! Channels to howdah's own server, and to servers that behave badly.

mod absence;
mod calls;
mod envelope;
mod lost_path;
mod misbehaviour;
mod restarts;
mod scripted;
mod served;
mod waiting;
