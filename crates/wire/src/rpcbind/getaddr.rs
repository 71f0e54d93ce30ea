//! GETADDR (RFC 1833 2.2.1, `RPCBPROC_GETADDR`) and GETVERSADDR (2.2.2, `RPCBPROC_GETVERSADDR`): where a program
//! listens. They differ in what is answered for a version that is not registered: another version's address, or none.

use super::{Binding, Text};
use crate::message::message;

/// Number of GETADDR.
pub const PROCEDURE: u32 = 3;
/// Number of GETVERSADDR, of version 4 alone.
pub const PROCEDURE_OF_VERSION: u32 = 9;

message! {
    /// Arguments of both (`rpcb`).
    pub struct Arguments<'a> {
        /// What is looked for. The network is that of the call, whatever stands here.
        pub binding: Binding<'a>,
    }
}

message! {
    /// Answer of both (`string`).
    pub struct Reply<'a> {
        /// The universal address; empty if the program is not registered.
        pub address: Text<'a>,
    }
}
