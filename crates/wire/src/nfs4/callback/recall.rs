//! CB_RECALL (RFC 8881 20.2): asks for a delegation back. The result holds nothing.

use crate::message::message;
use crate::nfs4::{FileHandle, StateId};

/// Number of the operation.
pub const OPERATION: u32 = 4;

message! {
    /// Arguments of CB_RECALL (`CB_RECALL4args`).
    pub struct Arguments<'a> {
        /// The delegation.
        pub state: StateId,
        /// Whether the file is about to be truncated, so that its data need not be written back.
        pub truncate: bool,
        /// The file.
        pub node: FileHandle<'a>,
    }
}
