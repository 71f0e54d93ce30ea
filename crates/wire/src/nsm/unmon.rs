//! UNMON: monitors a host no longer.

use super::Monitored;
use crate::message::message;

/// Number of the procedure (`SM_UNMON`).
pub const PROCEDURE: u32 = 3;

message! {
    /// Arguments of UNMON (`mon_id`).
    pub struct Arguments<'a> {
        /// Whose restart, and who wanted to know.
        pub monitored: Monitored<'a>,
    }
}

message! {
    /// The reply to UNMON and UNMON_ALL (`sm_stat`).
    pub struct Reply {
        /// The state number of the host that answers.
        pub state: u32,
    }
}
