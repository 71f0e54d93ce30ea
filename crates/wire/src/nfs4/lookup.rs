//! LOOKUP (RFC 8881 18.13): makes the node of a name in the current directory the current one. The result holds nothing.

use super::Name;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 15;

message! {
    /// Arguments of LOOKUP (`LOOKUP4args`).
    pub struct Arguments<'a> {
        /// The name.
        pub name: Name<'a>,
    }
}
