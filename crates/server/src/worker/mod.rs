//! Workers: threads that wait for sockets, run calls and send replies.

mod bulk;
mod capped;
mod datagrams;
mod gate;
mod moved;
mod patient;
mod reserved;
mod run;
mod secured;
mod serve;
mod slot;

pub use run::Worker;
pub use slot::WorkerSlot;
