//! PUTFH (RFC 8881 18.19): makes the node of a handle the current one. The result holds nothing.

use super::FileHandle;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 22;

message! {
    /// Arguments of PUTFH (`PUTFH4args`).
    pub struct Arguments<'a> {
        /// The handle.
        pub node: FileHandle<'a>,
    }
}
