//! CANCEL: a client waits for a lock no longer.

use super::{Cookie, Lock};
use crate::message::message;

pub use super::lock::Reply;

/// Number of the procedure (`NLMPROC4_CANCEL`).
pub const PROCEDURE: u32 = 3;
/// Its first half (`NLMPROC4_CANCEL_MSG`).
pub const MESSAGE: u32 = 8;
/// Its second half (`NLMPROC4_CANCEL_RES`).
pub const RESULT: u32 = 13;

message! {
    /// Arguments of CANCEL (`nlm4_cancargs`): as those of the LOCK.
    pub struct Arguments<'a> {
        /// What the client finds its call by.
        pub cookie: Cookie<'a>,
        /// Whether it waited for the lock.
        pub block: bool,
        /// Whether it excludes all others.
        pub exclusive: bool,
        /// The lock.
        pub lock: Lock<'a>,
    }
}
