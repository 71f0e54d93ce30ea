//! RECLAIM_COMPLETE (RFC 8881 18.51): the client has reclaimed all its states. The result holds nothing.

use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 58;

message! {
    /// Arguments of RECLAIM_COMPLETE (`RECLAIM_COMPLETE4args`).
    pub struct Arguments {
        /// Whether only those of the current node's file system.
        pub one_file_system: bool,
    }
}
