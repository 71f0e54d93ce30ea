//! CLOSE (RFC 8881 18.2): ends an open of the current file.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 4;

message! {
    /// Arguments of CLOSE (`CLOSE4args`).
    pub struct Arguments {
        /// Not used since minor version 1 (`seqid`).
        pub sequence: u32,
        /// The open.
        pub state: StateId,
    }
}

message! {
    /// Result of a CLOSE that went well (`CLOSE4res`).
    pub struct Success {
        /// Not used since minor version 1: servers give [`StateId::INVALID`].
        pub state: StateId,
    }
}
