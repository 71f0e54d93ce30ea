//! ACCESS (RFC 8881 18.1): what the caller may do with the current node.

use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 3;

/// Right to read data or list a directory (`ACCESS4_READ`).
pub const READ: u32 = 0x0001;
/// Right to look names up (`ACCESS4_LOOKUP`).
pub const LOOKUP: u32 = 0x0002;
/// Right to change data or names (`ACCESS4_MODIFY`).
pub const MODIFY: u32 = 0x0004;
/// Right to append data or add names (`ACCESS4_EXTEND`).
pub const EXTEND: u32 = 0x0008;
/// Right to remove names (`ACCESS4_DELETE`).
pub const DELETE: u32 = 0x0010;
/// Right to execute (`ACCESS4_EXECUTE`).
pub const EXECUTE: u32 = 0x0020;
/// Right to read extended attributes (`ACCESS4_XAREAD`, RFC 8276 8.5).
pub const READ_XATTRS: u32 = 0x0040;
/// Right to change extended attributes (`ACCESS4_XAWRITE`, RFC 8276 8.5).
pub const WRITE_XATTRS: u32 = 0x0080;
/// Right to list extended attributes (`ACCESS4_XALIST`, RFC 8276 8.5).
pub const LIST_XATTRS: u32 = 0x0100;

message! {
    /// Arguments of ACCESS (`ACCESS4args`).
    pub struct Arguments {
        /// The rights asked about.
        pub wanted: u32,
    }
}

message! {
    /// Result of an ACCESS that went well (`ACCESS4resok`).
    pub struct Success {
        /// Those of the rights that the server knows.
        pub supported: u32,
        /// Those that the caller has.
        pub granted: u32,
    }
}
