//! SECINFO_NO_NAME (RFC 8881 18.45): which flavors of security the current node is served with. The current node is gone after.

use crate::message::{enumeration, message};

/// Number of the operation.
pub const OPERATION: u32 = 52;

pub use super::secinfo::Success;

enumeration! {
    /// Of which node (`secinfo_style4`).
    pub enum Which, "style" {
        /// `SECINFO_STYLE4_CURRENT_FH`: the current one.
        Current = 0,
        /// `SECINFO_STYLE4_PARENT`: its parent.
        Parent = 1,
    }
}

message! {
    /// Arguments of SECINFO_NO_NAME (`SECINFO_NO_NAME4args`).
    pub struct Arguments {
        /// Of which node.
        pub which: Which,
    }
}
