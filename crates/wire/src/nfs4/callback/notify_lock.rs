//! CB_NOTIFY_LOCK (RFC 8881 20.11): a lock that was denied may be free now. The result holds nothing.

use crate::message::message;
use crate::nfs4::{FileHandle, Owner};

/// Number of the operation.
pub const OPERATION: u32 = 13;

message! {
    /// Arguments of CB_NOTIFY_LOCK (`CB_NOTIFY_LOCK4args`).
    pub struct Arguments<'a> {
        /// The file.
        pub node: FileHandle<'a>,
        /// Who wanted the lock.
        pub owner: Owner<'a>,
    }
}
