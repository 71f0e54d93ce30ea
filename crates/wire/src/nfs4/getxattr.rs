//! GETXATTR (RFC 8276 8.4.1): an extended attribute of the current node.

use super::{Name, XattrValue};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 72;

message! {
    /// Arguments of GETXATTR (`GETXATTR4args`).
    pub struct Arguments<'a> {
        /// Its name, without a namespace (`user.`).
        pub name: Name<'a>,
    }
}

message! {
    /// Result of a GETXATTR that went well (`GETXATTR4res`).
    pub struct Success<'a> {
        /// Its value.
        pub value: XattrValue<'a>,
    }
}
