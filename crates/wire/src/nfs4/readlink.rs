//! READLINK (RFC 8881 18.24): where the current symbolic link points. It has no arguments.

use super::LinkTarget;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 27;

message! {
    /// Result of a READLINK that went well (`READLINK4resok`).
    pub struct Success<'a> {
        /// Where it points.
        pub target: LinkTarget<'a>,
    }
}
