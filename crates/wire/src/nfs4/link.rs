//! LINK (RFC 8881 18.9): gives the saved node one more name, in the current directory.

use super::{ChangeInfo, Name};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 11;

message! {
    /// Arguments of LINK (`LINK4args`).
    pub struct Arguments<'a> {
        /// The name.
        pub name: Name<'a>,
    }
}

message! {
    /// Result of a LINK that went well (`LINK4resok`).
    pub struct Success {
        /// The directory before and after.
        pub directory: ChangeInfo,
    }
}
