//! The types that procedures share.

use crate::limits::{LOCK_COOKIE_MAX, LOCK_OWNER_MAX, MONITOR_NAME_MAX};
use crate::message::{enumeration, message, opaque};
use crate::nfs3::FileHandle;

opaque! {
    /// What a client finds its call by (`netobj`); the reply repeats it.
    pub struct Cookie, LOCK_COOKIE_MAX, "cookie";

    /// Distinguishes the owners of locks on a host (`netobj`).
    pub struct LockOwner, LOCK_OWNER_MAX, "lock owner";

    /// The name by which a host calls itself (`caller_name`, `mon_name`).
    pub struct CallerName, MONITOR_NAME_MAX, "name of a host";
}

enumeration! {
    /// How a call ended (`nlm4_stats`).
    pub enum Status, "status" {
        /// `NLM4_GRANTED`
        Granted = 0,
        /// `NLM4_DENIED`: another lock is in the way, or, to CANCEL, there is nothing to cancel.
        Denied = 1,
        /// `NLM4_DENIED_NOLOCKS`: clients report it as ENOLCK.
        NoLocks = 2,
        /// `NLM4_BLOCKED`: GRANTED will be called.
        Blocked = 3,
        /// `NLM4_DENIED_GRACE_PERIOD`: for a while after a restart only locks that were held before are granted.
        Grace = 4,
        /// `NLM4_DEADLCK`
        Deadlock = 5,
        /// `NLM4_ROFS`
        ReadOnly = 6,
        /// `NLM4_STALE_FH`
        Stale = 7,
        /// `NLM4_FBIG`: the range is beyond what the server can lock.
        TooBig = 8,
        /// `NLM4_FAILED`
        Failed = 9,
    }
}

message! {
    /// A lock, or where there could be one (`nlm4_lock`).
    pub struct Lock<'a> {
        /// The host.
        pub caller: CallerName<'a>,
        /// The file.
        pub file: FileHandle<'a>,
        /// Who locks.
        pub owner: LockOwner<'a>,
        /// A number of the process that locks (`svid`).
        pub process: u32,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; 0 or all ones means to the end of the file.
        pub length: u64,
    }
}

message! {
    /// The lock that is in the way (`nlm4_holder`).
    pub struct Holder<'a> {
        /// Whether it excludes all others.
        pub exclusive: bool,
        /// A number of the process that holds it (`svid`).
        pub process: u32,
        /// Who holds it.
        pub owner: LockOwner<'a>,
        /// Where its range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; 0 or all ones means to the end of the file.
        pub length: u64,
    }
}
