//! NVERIFY (RFC 8881 18.15): goes on only if an attribute of the current node differs from these. The result holds nothing.

use super::attributes::Values;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 17;

message! {
    /// Arguments of NVERIFY (`NVERIFY4args`).
    pub struct Arguments<'a> {
        /// The attributes.
        pub attributes: Values<'a>,
    }
}
