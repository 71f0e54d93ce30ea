//! LOCKU (RFC 8881 18.12): unlocks a range of the current file.

use super::{LockKind, StateId};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 14;

message! {
    /// Arguments of LOCKU (`LOCKU4args`).
    pub struct Arguments {
        /// Not used.
        pub kind: LockKind,
        /// Not used since minor version 1 (`seqid`).
        pub sequence: u32,
        /// The locks.
        pub state: StateId,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; all ones means to the end of the file.
        pub length: u64,
    }
}

message! {
    /// Result of a LOCKU that went well (`LOCKU4res`).
    pub struct Success {
        /// The locks.
        pub state: StateId,
    }
}
