//! Clients of servers of this process: what calls send, and what they make of answers.

mod conformance;
mod conformance_terse;
mod connect;
#[path = "../../../copy/tests/copying/mod.rs"]
mod copying;
mod datagrams;
mod file;
mod file_ranges;
#[path = "../middleman/mod.rs"]
mod middleman;
#[path = "../nat/mod.rs"]
mod nat;
mod nfs3_acls;
mod nfs3_answers;
mod nfs3_lost_replies;
mod quic;
#[path = "../served/mod.rs"]
mod served;
mod tls;
