//! SEEK (RFC 7862 15.11): where the next data or hole of the current file starts.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 69;

/// Data (`NFS4_CONTENT_DATA`).
pub const DATA: u32 = 0;
/// A hole (`NFS4_CONTENT_HOLE`).
pub const HOLE: u32 = 1;

message! {
    /// Arguments of SEEK (`SEEK4args`).
    pub struct Arguments {
        /// The open that it goes by.
        pub state: StateId,
        /// Where to start, in bytes.
        pub offset: u64,
        /// What to look for: [`DATA`] or [`HOLE`]; to others the answer is NFS4ERR_UNION_NOTSUPP.
        pub what: u32,
    }
}

message! {
    /// Result of a SEEK that went well (`seek_res4`).
    pub struct Success {
        /// Whether it was not found before the end of the file.
        pub end: bool,
        /// Where it starts, in bytes.
        pub offset: u64,
    }
}
