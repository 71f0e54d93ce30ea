//! LOCKT (RFC 8881 18.11): whether a range of the current file could be locked. A result with NFS4ERR_DENIED holds
//! [`Denied`]; one that went well holds nothing.

use super::{LockKind, Owner};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 13;

pub use super::locks::Denied;

message! {
    /// Arguments of LOCKT (`LOCKT4args`).
    pub struct Arguments<'a> {
        /// Which kind of lock.
        pub kind: LockKind,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; all ones means to the end of the file.
        pub length: u64,
        /// Who would hold it.
        pub owner: Owner<'a>,
    }
}
