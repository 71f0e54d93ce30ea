//! NSM version 1: clients' status monitors say that they restarted, and get a notice that this server did. It monitors for
//! nobody but this server's own locks, and needs no MON for that: a host with a lock is remembered.

mod notice;
mod notify;
mod program;
mod table;

#[cfg(test)]
mod tests;

pub use notice::Notices;
pub use program::Nsm;
