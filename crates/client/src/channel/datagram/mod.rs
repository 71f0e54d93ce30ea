//! The way to one server by datagrams: `howdah_rpc::client::datagram` decides what is sent and when; here are its socket, its
//! thread and its clock.
//!
//! Who calls sends at once, if the window allows it. One thread receives for all and keeps the timers.

mod carrier;
mod reader;
mod way;

pub(super) use way::Datagrams;
