//! DEALLOCATE (RFC 7862 15.4): makes a range of the current file a hole. The result holds nothing.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 62;

message! {
    /// Arguments of DEALLOCATE (`DEALLOCATE4args`).
    pub struct Arguments {
        /// The open that it goes by.
        pub state: StateId,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes.
        pub length: u64,
    }
}
