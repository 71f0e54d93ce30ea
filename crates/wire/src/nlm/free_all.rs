//! FREE_ALL: a client restarted, and holds nothing any more. The reply holds nothing.

use super::CallerName;
use crate::message::message;

/// Number of the procedure (`NLMPROC4_FREE_ALL`).
pub const PROCEDURE: u32 = 23;

message! {
    /// Arguments of FREE_ALL (`nlm4_notify`).
    pub struct Arguments<'a> {
        /// The client.
        pub name: CallerName<'a>,
        /// Its state number, which nothing uses.
        pub state: u32,
    }
}
