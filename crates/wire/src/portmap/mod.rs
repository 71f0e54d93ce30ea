//! Portmap version 2 (RFC 1833 3): which program listens on which port. One file per procedure that has arguments.
//! Versions 3 and 4 of the same program are [`crate::rpcbind`].

pub mod callit;
pub mod dump;
pub mod getport;
mod mapping;
pub mod set;
pub mod unset;

pub use mapping::{Mapping, Protocol};

/// The RPC program number.
pub const PROGRAM: u32 = 100_000;
/// The version.
pub const VERSION: u32 = 2;
/// The port on which it is found, over TCP and UDP.
pub const PORT: u16 = 111;
/// Number of NULL, which does nothing.
pub const NULL: u32 = 0;
