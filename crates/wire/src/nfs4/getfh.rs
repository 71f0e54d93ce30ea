//! GETFH (RFC 8881 18.8): the handle of the current node. It has no arguments.

use super::FileHandle;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 10;

message! {
    /// Result of a GETFH that went well (`GETFH4resok`).
    pub struct Success<'a> {
        /// The handle.
        pub node: FileHandle<'a>,
    }
}
