//! OPEN_DOWNGRADE (RFC 8881 18.18): gives up some of what the current file was opened for.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 21;

message! {
    /// Arguments of OPEN_DOWNGRADE (`OPEN_DOWNGRADE4args`).
    pub struct Arguments {
        /// The open.
        pub state: StateId,
        /// Not used since minor version 1 (`seqid`).
        pub sequence: u32,
        /// What it stays open for: see [`super::open::ACCESS_READ`].
        pub access: u32,
        /// What stays denied to others: see [`super::open::DENY_READ`].
        pub deny: u32,
    }
}

message! {
    /// Result of an OPEN_DOWNGRADE that went well (`OPEN_DOWNGRADE4resok`).
    pub struct Success {
        /// The open.
        pub state: StateId,
    }
}
