//! BIND_CONN_TO_SESSION (RFC 8881 18.34): uses this connection for a session. It stands alone in its compound.

use super::SessionId;
use crate::message::{enumeration, message};

/// Number of the operation.
pub const OPERATION: u32 = 41;

enumeration! {
    /// What the client wants to use the connection for (`channel_dir_from_client4`).
    pub enum WantedUse, "use of a connection" {
        /// `CDFC4_FORE`: calls.
        Calls = 1,
        /// `CDFC4_BACK`: callbacks.
        Callbacks = 2,
        /// `CDFC4_FORE_OR_BOTH`: calls, and callbacks if the server likes.
        CallsOrBoth = 3,
        /// `CDFC4_BACK_OR_BOTH`: callbacks, and calls if the server likes.
        CallbacksOrBoth = 7,
    }
}

enumeration! {
    /// What the server uses it for (`channel_dir_from_server4`).
    pub enum GrantedUse, "use of a connection" {
        /// `CDFS4_FORE`: calls.
        Calls = 1,
        /// `CDFS4_BACK`: callbacks.
        Callbacks = 2,
        /// `CDFS4_BOTH`: both.
        Both = 3,
    }
}

message! {
    /// Arguments of BIND_CONN_TO_SESSION (`BIND_CONN_TO_SESSION4args`).
    pub struct Arguments {
        /// The session.
        pub session: SessionId,
        /// What for.
        pub direction: WantedUse,
        /// Whether to go over to RDMA.
        pub rdma: bool,
    }
}

message! {
    /// Result of a BIND_CONN_TO_SESSION that went well (`BIND_CONN_TO_SESSION4resok`).
    pub struct Success {
        /// The session.
        pub session: SessionId,
        /// What for.
        pub direction: GrantedUse,
        /// Whether the connection goes over to RDMA.
        pub rdma: bool,
    }
}
