//! SM_NOTIFY: the status monitor of this host says that another host restarted. The reply holds nothing. Not part of the
//! protocol: monitors call the procedure that MON of NSM named; Linux names this one.

use super::CallerName;
use crate::message::message;

/// Number of the procedure (`NLMPROC_NSM_NOTIFY` of Linux).
pub const PROCEDURE: u32 = 16;

message! {
    /// Arguments of SM_NOTIFY (`nlm_sm_status`, `status` of NSM).
    pub struct Arguments<'a> {
        /// The host that restarted.
        pub name: CallerName<'a>,
        /// Its state number.
        pub state: u32,
        /// What MON came with (`priv`).
        pub private: [u8; 16],
    }
}
