//! REMOVE (RFC 8881 18.25): removes a name from the current directory.

use super::{ChangeInfo, Name};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 28;

message! {
    /// Arguments of REMOVE (`REMOVE4args`).
    pub struct Arguments<'a> {
        /// The name.
        pub name: Name<'a>,
    }
}

message! {
    /// Result of a REMOVE that went well (`REMOVE4resok`).
    pub struct Success {
        /// The directory before and after.
        pub directory: ChangeInfo,
    }
}
