//! The client of NFSv4.1 and 4.2 with a running server: the conformance suite, connecting, a session that is lost, locks, and calls of the
//! server.

mod callbacks;
mod conformance;
mod connect;
mod delegations;
mod few_slots;
mod injected;
mod lanes;
mod locks;
#[path = "../middleman/mod.rs"]
mod middleman;
mod restarts;
#[path = "../served/mod.rs"]
mod served;
mod whole_files;
