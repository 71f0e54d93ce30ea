//! UNSET (RFC 1833 3.2, `PMAPPROC_UNSET`): takes a registration back.

use super::Mapping;
use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 2;

message! {
    /// Arguments of UNSET (`mapping`).
    pub struct Arguments {
        /// What to take back; protocol and port are ignored.
        pub mapping: Mapping,
    }
}

message! {
    /// Answer of UNSET (`bool`).
    pub struct Reply {
        /// Whether there was one.
        pub done: bool,
    }
}
