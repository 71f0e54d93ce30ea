//! CB_SEQUENCE (RFC 8881 20.9): starts a callback in a slot of a session's back channel.

use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::nfs4::SessionId;
use crate::xdr::Array;

/// Number of the operation.
pub const OPERATION: u32 = 11;

message! {
    /// A call of the client's that the callback is about (`referring_call4`).
    pub struct ReferringCall {
        /// Its number in the slot.
        pub sequence: u32,
        /// Its slot.
        pub slot: u32,
    }
}

message! {
    /// Such calls of one session (`referring_call_list4`).
    pub struct ReferringCalls<'a> {
        /// The session.
        pub session: SessionId,
        /// The calls.
        pub calls: Array<'a, ReferringCall, ITEMS4_MAX>,
    }
}

message! {
    /// Arguments of CB_SEQUENCE (`CB_SEQUENCE4args`).
    pub struct Arguments<'a> {
        /// The session.
        pub session: SessionId,
        /// Number of the request in its slot: one more than the last, or the same for a retry.
        pub sequence: u32,
        /// The slot.
        pub slot: u32,
        /// The highest slot that the server uses.
        pub highest_slot: u32,
        /// Whether the reply is to be kept for a retry.
        pub keep: bool,
        /// Calls whose replies the client must have seen first.
        pub referring: Array<'a, ReferringCalls<'a>, ITEMS4_MAX>,
    }
}

message! {
    /// Result of a CB_SEQUENCE that went well (`CB_SEQUENCE4resok`).
    pub struct Success {
        /// The session.
        pub session: SessionId,
        /// Number of the request.
        pub sequence: u32,
        /// The slot.
        pub slot: u32,
        /// The highest slot that the client takes.
        pub highest_slot: u32,
        /// The highest slot that it wants the server to use.
        pub target_highest_slot: u32,
    }
}
