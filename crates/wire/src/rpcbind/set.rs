//! SET (RFC 1833 2.2.1, `RPCBPROC_SET`): registers a program.

use super::Binding;
use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 1;

message! {
    /// Arguments of SET (`rpcb`).
    pub struct Arguments<'a> {
        /// What to register.
        pub binding: Binding<'a>,
    }
}

message! {
    /// Answer of SET (`bool`).
    pub struct Reply {
        /// Whether it was: not if that program, version and network is registered already.
        pub done: bool,
    }
}
