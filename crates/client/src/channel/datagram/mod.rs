//! The way to one server by datagrams: `howdah_rpc::client::datagram` decides what is sent and when; here are its socket, its
//! threads and its clock.
//!
//! Who calls sends at once, if the window allows it. Who waits receives for all who wait, until its own reply has come. A
//! thread besides keeps the timers, and receives when replies are due and nobody waits.

mod carrier;
mod lead;
#[cfg(test)]
mod tests;
mod thread;
mod way;

pub(super) use carrier::Carrier;
pub(super) use way::Datagrams;
