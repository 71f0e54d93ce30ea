//! UNSET (RFC 1833 2.2.1, `RPCBPROC_UNSET`): takes a registration back.

use super::Binding;
use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 2;

message! {
    /// Arguments of UNSET (`rpcb`).
    pub struct Arguments<'a> {
        /// What to take back; the address is ignored, and an empty network means all of them.
        pub binding: Binding<'a>,
    }
}

message! {
    /// Answer of UNSET (`bool`).
    pub struct Reply {
        /// Whether there was one, and it is ours.
        pub done: bool,
    }
}
