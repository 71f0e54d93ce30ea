//! LOCK: locks a range of a file.

use super::{Cookie, Lock, Status};
use crate::message::message;

/// Number of the procedure (`NLMPROC4_LOCK`).
pub const PROCEDURE: u32 = 2;
/// Its first half (`NLMPROC4_LOCK_MSG`).
pub const MESSAGE: u32 = 7;
/// Its second half (`NLMPROC4_LOCK_RES`).
pub const RESULT: u32 = 12;

message! {
    /// Arguments of LOCK and NM_LOCK (`nlm4_lockargs`).
    pub struct Arguments<'a> {
        /// What the client finds its call by.
        pub cookie: Cookie<'a>,
        /// Whether to wait for the lock: it is granted by a call of GRANTED then.
        pub block: bool,
        /// Whether it excludes all others.
        pub exclusive: bool,
        /// The lock.
        pub lock: Lock<'a>,
        /// Whether it was held before the server restarted.
        pub reclaim: bool,
        /// The state number of the client's status monitor.
        pub state: u32,
    }
}

message! {
    /// The reply (`nlm4_res`). That of TEST (`nlm4_testres`) is the same for every status but `NLM4_DENIED`.
    pub struct Reply<'a> {
        /// That of the call.
        pub cookie: Cookie<'a>,
        /// How the call ended.
        pub status: Status,
    }
}
