//! SETXATTR (RFC 8276 8.4.2): sets an extended attribute of the current node.

use super::{ChangeInfo, Name, XattrValue};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 73;

/// Whether it exists or not (`SETXATTR4_EITHER`).
pub const EITHER: u32 = 0;
/// Refused if it exists (`SETXATTR4_CREATE`).
pub const CREATE: u32 = 1;
/// Refused if it does not exist (`SETXATTR4_REPLACE`).
pub const REPLACE: u32 = 2;

message! {
    /// Arguments of SETXATTR (`SETXATTR4args`).
    pub struct Arguments<'a> {
        /// One of the above; to others the answer is NFS4ERR_INVAL.
        pub how: u32,
        /// Its name, without a namespace (`user.`).
        pub name: Name<'a>,
        /// Its value.
        pub value: XattrValue<'a>,
    }
}

message! {
    /// Result of a SETXATTR that went well (`SETXATTR4res`).
    pub struct Success {
        /// The node before and after.
        pub node: ChangeInfo,
    }
}
