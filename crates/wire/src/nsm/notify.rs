//! NOTIFY: a host announces that it restarted. The reply holds nothing.

use super::MonitorName;
use crate::message::message;

/// Number of the procedure (`SM_NOTIFY`).
pub const PROCEDURE: u32 = 6;

message! {
    /// Arguments of NOTIFY (`stat_chge`).
    pub struct Arguments<'a> {
        /// The host that restarted.
        pub name: MonitorName<'a>,
        /// Its state number.
        pub state: u32,
    }
}
