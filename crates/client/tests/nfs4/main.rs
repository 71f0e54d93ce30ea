//! The client of NFSv4.1 and 4.2 with a running server: the conformance suite, connecting, and a session that is lost.

mod conformance;
mod connect;
mod injected;
#[path = "../middleman/mod.rs"]
mod middleman;
mod restarts;
#[path = "../served/mod.rs"]
mod served;
