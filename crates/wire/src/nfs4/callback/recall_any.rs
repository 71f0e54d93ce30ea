//! CB_RECALL_ANY (RFC 8881 20.6): asks a client to keep no more than so many delegations and layouts. The result holds nothing.

use crate::message::message;
use crate::nfs4::Bitmap;

/// Number of the operation.
pub const OPERATION: u32 = 8;

/// Delegations of directories (`RCA4_TYPE_MASK_DIR_DLG`).
pub const DIRECTORY_DELEGATIONS: u32 = 2;

message! {
    /// Arguments of CB_RECALL_ANY (`CB_RECALL_ANY4args`).
    pub struct Arguments {
        /// How many of these kinds the client may keep.
        pub keep: u32,
        /// The kinds.
        pub kinds: Bitmap,
    }
}
