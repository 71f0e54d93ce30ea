//! STAT: whether a host could be monitored.

use super::{MonitorName, MonitoringResult};
use crate::message::message;

/// Number of the procedure (`SM_STAT`).
pub const PROCEDURE: u32 = 1;

message! {
    /// Arguments of STAT (`sm_name`).
    pub struct Arguments<'a> {
        /// The host.
        pub name: MonitorName<'a>,
    }
}

message! {
    /// The reply to STAT and MON (`sm_stat_res`).
    pub struct Reply {
        /// Whether it is, or could be, monitored.
        pub result: MonitoringResult,
        /// The state number of the host that answers.
        pub state: u32,
    }
}
