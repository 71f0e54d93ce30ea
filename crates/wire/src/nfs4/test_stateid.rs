//! TEST_STATEID (RFC 8881 18.48): which of these states are still valid.

use super::{StateId, Status};
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::xdr::Array;

/// Number of the operation.
pub const OPERATION: u32 = 55;

message! {
    /// Arguments of TEST_STATEID (`TEST_STATEID4args`).
    pub struct Arguments<'a> {
        /// The states.
        pub states: Array<'a, StateId, ITEMS4_MAX>,
    }
}

message! {
    /// Result of a TEST_STATEID that went well (`TEST_STATEID4resok`).
    pub struct Success<'a> {
        /// For each of them what an operation would be answered.
        pub statuses: Array<'a, Status, ITEMS4_MAX>,
    }
}
