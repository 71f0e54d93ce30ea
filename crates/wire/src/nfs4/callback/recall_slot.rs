//! CB_RECALL_SLOT (RFC 8881 20.8): asks a client to use fewer slots. The result holds nothing.

use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 10;

message! {
    /// Arguments of CB_RECALL_SLOT (`CB_RECALL_SLOT4args`).
    pub struct Arguments {
        /// The highest slot that the server wants to be used.
        pub target_highest_slot: u32,
    }
}
