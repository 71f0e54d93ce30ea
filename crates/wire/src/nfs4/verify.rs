//! VERIFY (RFC 8881 18.31): goes on only if the current node has these attributes. The result holds nothing.

use super::attributes::Values;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 37;

message! {
    /// Arguments of VERIFY (`VERIFY4args`).
    pub struct Arguments<'a> {
        /// The attributes.
        pub attributes: Values<'a>,
    }
}
