//! REMOVEXATTR (RFC 8276 8.4.4): removes an extended attribute of the current node.

use super::{ChangeInfo, Name};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 75;

message! {
    /// Arguments of REMOVEXATTR (`REMOVEXATTR4args`).
    pub struct Arguments<'a> {
        /// Its name, without a namespace (`user.`).
        pub name: Name<'a>,
    }
}

message! {
    /// Result of a REMOVEXATTR that went well (`REMOVEXATTR4res`).
    pub struct Success {
        /// The node before and after.
        pub node: ChangeInfo,
    }
}
