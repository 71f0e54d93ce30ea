//! COMMIT (RFC 8881 18.3): makes what was written unstably to the current file durable.

use super::Verifier;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 5;

message! {
    /// Arguments of COMMIT (`COMMIT4args`).
    pub struct Arguments {
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; 0 means to the end of the file.
        pub count: u32,
    }
}

message! {
    /// Result of a COMMIT that went well (`COMMIT4resok`).
    pub struct Success {
        /// Changes when uncommitted data was lost.
        pub verifier: Verifier,
    }
}
