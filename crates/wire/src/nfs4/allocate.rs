//! ALLOCATE (RFC 7862 15.1): reserves space for a range of the current file. The result holds nothing.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 59;

message! {
    /// Arguments of ALLOCATE (`ALLOCATE4args`).
    pub struct Arguments {
        /// The open that it goes by.
        pub state: StateId,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes.
        pub length: u64,
    }
}
