//! RENAME (RFC 8881 18.26): moves a name from the saved directory to the current one.

use super::{ChangeInfo, Name};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 29;

message! {
    /// Arguments of RENAME (`RENAME4args`).
    pub struct Arguments<'a> {
        /// The name in the saved directory.
        pub from: Name<'a>,
        /// The name in the current directory.
        pub to: Name<'a>,
    }
}

message! {
    /// Result of a RENAME that went well (`RENAME4resok`).
    pub struct Success {
        /// The saved directory before and after.
        pub source: ChangeInfo,
        /// The current directory before and after.
        pub target: ChangeInfo,
    }
}
