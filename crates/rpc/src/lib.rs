//! RPC as pure state machines: bytes and time are arguments, records and decisions come out.
//!
//! This floor knows the messages of `wire` and nothing of sockets, files, clocks or threads.

pub mod client;
pub mod limits;
pub mod reply_cache;
pub mod server;
#[cfg(feature = "simulation")]
pub mod simulation;
