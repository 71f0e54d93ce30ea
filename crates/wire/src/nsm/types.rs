//! The types that procedures share.

use crate::limits::MONITOR_NAME_MAX;
use crate::message::{enumeration, message, opaque};

opaque! {
    /// The name of a host (`string<SM_MAXSTRLEN>`).
    pub struct MonitorName, MONITOR_NAME_MAX, "name of a host";
}

enumeration! {
    /// Whether a host is monitored (`res`).
    pub enum MonitoringResult, "result" {
        /// `STAT_SUCC`
        Success = 0,
        /// `STAT_FAIL`
        Failure = 1,
    }
}

message! {
    /// The program on this host that wants to know of another's restart (`my_id`), and the procedure that it wants called then.
    pub struct Monitor<'a> {
        /// This host.
        pub name: MonitorName<'a>,
        /// Its RPC program.
        pub program: u32,
        /// The version.
        pub version: u32,
        /// The procedure.
        pub procedure: u32,
    }
}

message! {
    /// Who wants to know of whose restart (`mon_id`).
    pub struct Monitored<'a> {
        /// The host that is monitored.
        pub name: MonitorName<'a>,
        /// Who wants to know.
        pub by: Monitor<'a>,
    }
}
