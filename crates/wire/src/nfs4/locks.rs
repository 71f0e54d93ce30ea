//! What LOCK, LOCKT and LOCKU share.

use super::Owner;
use crate::message::{enumeration, message};

enumeration! {
    /// Which kind of lock (`nfs_lock_type4`).
    pub enum LockKind, "kind of lock" {
        /// `READ_LT`
        Read = 1,
        /// `WRITE_LT`
        Write = 2,
        /// `READW_LT`: the caller waits for it, and asks again or is called back.
        ReadWait = 3,
        /// `WRITEW_LT`: the caller waits for it, and asks again or is called back.
        WriteWait = 4,
    }
}

impl LockKind {
    /// Whether it excludes all others.
    pub fn is_exclusive(self) -> bool {
        matches!(self, Self::Write | Self::WriteWait)
    }

    /// Whether the caller waits for it.
    pub fn waits(self) -> bool {
        matches!(self, Self::ReadWait | Self::WriteWait)
    }
}

message! {
    /// The lock that is in the way (`LOCK4denied`): what a result of LOCK or LOCKT with NFS4ERR_DENIED holds.
    pub struct Denied<'a> {
        /// Where its range starts, in bytes.
        pub offset: u64,
        /// The range's length in bytes; all ones means to the end of the file.
        pub length: u64,
        /// Its kind.
        pub kind: LockKind,
        /// Who holds it.
        pub owner: Owner<'a>,
    }
}
