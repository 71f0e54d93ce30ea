//! SEQUENCE (RFC 8881 18.46): starts a compound in a slot of a session, and renews the lease.

use super::SessionId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 53;

/// Flag: no connection of the client takes callbacks (`SEQ4_STATUS_CB_PATH_DOWN`).
pub const CALLBACK_PATH_DOWN: u32 = 0x0001;
/// Flag: the lease expired, and all states are gone (`SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED`).
pub const ALL_STATE_EXPIRED: u32 = 0x0008;
/// Flag: the lease expired, and some states are gone (`SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED`).
pub const SOME_STATE_EXPIRED: u32 = 0x0010;
/// Flag: an administrator revoked states (`SEQ4_STATUS_ADMIN_STATE_REVOKED`).
pub const ADMIN_STATE_REVOKED: u32 = 0x0020;
/// Flag: delegations or layouts were revoked (`SEQ4_STATUS_RECALLABLE_STATE_REVOKED`).
pub const RECALLABLE_STATE_REVOKED: u32 = 0x0040;
/// Flag: a file system moved (`SEQ4_STATUS_LEASE_MOVED`).
pub const LEASE_MOVED: u32 = 0x0080;
/// Flag: the server restarted, and states are to be reclaimed (`SEQ4_STATUS_RESTART_RECLAIM_NEEDED`).
pub const RECLAIM_NEEDED: u32 = 0x0100;
/// Flag: no connection of the session takes callbacks (`SEQ4_STATUS_CB_PATH_DOWN_SESSION`).
pub const SESSION_CALLBACK_PATH_DOWN: u32 = 0x0200;
/// Flag: the client breaks rules on the back channel (`SEQ4_STATUS_BACKCHANNEL_FAULT`).
pub const BACK_CHANNEL_FAULT: u32 = 0x0400;

message! {
    /// Arguments of SEQUENCE (`SEQUENCE4args`).
    pub struct Arguments {
        /// The session.
        pub session: SessionId,
        /// Number of the request in its slot: one more than the last, or the same for a retry.
        pub sequence: u32,
        /// The slot.
        pub slot: u32,
        /// The highest slot that the client uses.
        pub highest_slot: u32,
        /// Whether the reply is to be kept for a retry (`sa_cachethis`).
        pub keep: bool,
    }
}

message! {
    /// Result of a SEQUENCE that went well (`SEQUENCE4resok`).
    pub struct Success {
        /// The session.
        pub session: SessionId,
        /// Number of the request.
        pub sequence: u32,
        /// The slot.
        pub slot: u32,
        /// The highest slot that the server takes.
        pub highest_slot: u32,
        /// The highest slot that it wants the client to use.
        pub target_highest_slot: u32,
        /// What the client should know: a set of the flags above.
        pub flags: u32,
    }
}
