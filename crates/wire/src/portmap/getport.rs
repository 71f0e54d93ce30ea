//! GETPORT (RFC 1833 3.2, `PMAPPROC_GETPORT`): on which port a program listens.

use super::Mapping;
use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 3;

message! {
    /// Arguments of GETPORT (`mapping`).
    pub struct Arguments {
        /// What is looked for; its port is ignored.
        pub mapping: Mapping,
    }
}

message! {
    /// Answer of GETPORT (`unsigned int`).
    pub struct Reply {
        /// The port; 0 if the program is not registered.
        pub port: u32,
    }
}
