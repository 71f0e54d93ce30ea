//! OPEN (RFC 8881 18.16): opens a regular file, and makes it first if asked to.

mod claim;
mod delegation;
mod how;
mod share;

pub use claim::Claim;
pub use delegation::{AccessEntry, Delegation, DelegationKind, Given, SpaceLimit, WhyNone, WriteGiven};
pub use how::How;
pub use share::*;

use super::{Bitmap, ChangeInfo, Owner, StateId};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 18;

/// Flag of a result: locks are those of POSIX (`OPEN4_RESULT_LOCKTYPE_POSIX`).
pub const POSIX_LOCKS: u32 = 0x04;
/// Flag of a result: CB_NOTIFY_LOCK may come (`OPEN4_RESULT_MAY_NOTIFY_LOCK`).
pub const MAY_NOTIFY_LOCK: u32 = 0x20;

message! {
    /// Arguments of OPEN (`OPEN4args`).
    pub struct Arguments<'a> {
        /// Not used since minor version 1 (`seqid`).
        pub sequence: u32,
        /// What the file is opened for, and which delegation is wanted: see [`ACCESS_READ`] and what follows it.
        pub access: u32,
        /// What others may not open it for: see [`DENY_READ`].
        pub deny: u32,
        /// Who opens it.
        pub owner: Owner<'a>,
        /// How to make the file; `None` opens one that exists.
        pub create: Option<How<'a>>,
        /// Which file, and by which right.
        pub claim: Claim<'a>,
    }
}

message! {
    /// Result of an OPEN that went well (`OPEN4resok`).
    pub struct Success<'a> {
        /// The open.
        pub state: StateId,
        /// The directory before and after.
        pub directory: ChangeInfo,
        /// A set of the flags above.
        pub flags: u32,
        /// The attributes that were set on the new file.
        pub attributes_set: Bitmap,
        /// The delegation that comes with it.
        pub delegation: Delegation<'a>,
    }
}
