//! UNLOCK: unlocks a range of a file.

use super::{Cookie, Lock};
use crate::message::message;

pub use super::lock::Reply;

/// Number of the procedure (`NLMPROC4_UNLOCK`).
pub const PROCEDURE: u32 = 4;
/// Its first half (`NLMPROC4_UNLOCK_MSG`).
pub const MESSAGE: u32 = 9;
/// Its second half (`NLMPROC4_UNLOCK_RES`).
pub const RESULT: u32 = 14;

message! {
    /// Arguments of UNLOCK (`nlm4_unlockargs`).
    pub struct Arguments<'a> {
        /// What the client finds its call by.
        pub cookie: Cookie<'a>,
        /// What to unlock.
        pub lock: Lock<'a>,
    }
}
