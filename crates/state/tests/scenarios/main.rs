//! What each operation answers, one scenario a test.

mod clients;
mod deadlocks;
mod delegations;
mod grace;
mod local;
mod locks;
mod memory;
mod nlm;
mod opens;
mod server;
mod sessions;
mod taking_over;
mod waiting;
