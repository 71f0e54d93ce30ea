//! DESTROY_SESSION (RFC 8881 18.37): ends a session. The result holds nothing.

use super::SessionId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 44;

message! {
    /// Arguments of DESTROY_SESSION (`DESTROY_SESSION4args`).
    pub struct Arguments {
        /// The session.
        pub session: SessionId,
    }
}
