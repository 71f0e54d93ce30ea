//! SET (RFC 1833 3.2, `PMAPPROC_SET`): registers a program.

use super::Mapping;
use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 1;

message! {
    /// Arguments of SET (`mapping`).
    pub struct Arguments {
        /// What to register.
        pub mapping: Mapping,
    }
}

message! {
    /// Answer of SET (`bool`).
    pub struct Reply {
        /// Whether it was: not if that program, version and protocol is registered already.
        pub done: bool,
    }
}
