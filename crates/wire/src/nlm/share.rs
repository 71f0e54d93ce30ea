//! SHARE: opens a file and excludes others.

use super::{CallerName, Cookie, LockOwner, Status};
use crate::message::{enumeration, message};
use crate::nfs3::FileHandle;

/// Number of the procedure (`NLMPROC4_SHARE`).
pub const PROCEDURE: u32 = 20;

enumeration! {
    /// What others may not open the file for (`fsh4_mode`).
    pub enum ShareDeny, "what is denied" {
        /// `fsm_DN`
        Nothing = 0,
        /// `fsm_DR`
        Reading = 1,
        /// `fsm_DW`
        Writing = 2,
        /// `fsm_DRW`
        Both = 3,
    }
}

enumeration! {
    /// What it is opened for (`fsh4_access`).
    pub enum ShareAccess, "access" {
        /// `fsa_NONE`
        Nothing = 0,
        /// `fsa_R`
        Reading = 1,
        /// `fsa_W`
        Writing = 2,
        /// `fsa_RW`
        Both = 3,
    }
}

message! {
    /// An open (`nlm4_share`).
    pub struct Share<'a> {
        /// The host.
        pub caller: CallerName<'a>,
        /// The file.
        pub file: FileHandle<'a>,
        /// Who opens it.
        pub owner: LockOwner<'a>,
        /// What others may not open it for.
        pub deny: ShareDeny,
        /// What it is opened for.
        pub access: ShareAccess,
    }
}

message! {
    /// Arguments of SHARE and UNSHARE (`nlm4_shareargs`).
    pub struct Arguments<'a> {
        /// What the client finds its call by.
        pub cookie: Cookie<'a>,
        /// The open.
        pub share: Share<'a>,
        /// Whether it was there before the server restarted.
        pub reclaim: bool,
    }
}

message! {
    /// The reply (`nlm4_shareres`).
    pub struct Reply<'a> {
        /// That of the call.
        pub cookie: Cookie<'a>,
        /// How the call ended.
        pub status: Status,
        /// Nothing uses it.
        pub sequence: u32,
    }
}
