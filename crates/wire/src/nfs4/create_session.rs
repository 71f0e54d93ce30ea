//! CREATE_SESSION (RFC 8881 18.36): makes a session of a client, and confirms the client.

use super::{CallbackSecurity, ClientId, SessionId};
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::xdr::Array;

/// Number of the operation.
pub const OPERATION: u32 = 43;

/// Flag: replies are kept over restarts (`CREATE_SESSION4_FLAG_PERSIST`).
pub const PERSISTENT: u32 = 1;
/// Flag: this connection takes callbacks (`CREATE_SESSION4_FLAG_CONN_BACK_CHAN`).
pub const BACK_CHANNEL: u32 = 2;
/// Flag: this connection goes over to RDMA (`CREATE_SESSION4_FLAG_CONN_RDMA`).
pub const RDMA: u32 = 4;

message! {
    /// The sizes of a channel (`channel_attrs4`), in bytes where nothing else is said.
    pub struct ChannelSizes {
        /// Padding before the data of a WRITE.
        pub header_padding: u32,
        /// The largest request, RPC header included.
        pub request: u32,
        /// The largest reply, RPC header included.
        pub response: u32,
        /// The largest reply that is kept for a retry.
        pub kept_response: u32,
        /// The most operations of a compound.
        pub operations: u32,
        /// The most requests at the same time: slots.
        pub slots: u32,
        /// Of RDMA (`ca_rdma_ird`).
        pub rdma_reads: Option<u32>,
    }
}

message! {
    /// Arguments of CREATE_SESSION (`CREATE_SESSION4args`).
    pub struct Arguments<'a> {
        /// The client.
        pub client: ClientId,
        /// Number of the request: that of EXCHANGE_ID's result, or one more than the last.
        pub sequence: u32,
        /// A set of the flags above.
        pub flags: u32,
        /// What the client wants of the channel for its calls.
        pub fore: ChannelSizes,
        /// What it offers on the channel for callbacks.
        pub back: ChannelSizes,
        /// The program number of callbacks.
        pub callback_program: u32,
        /// Credentials that callbacks may come with.
        pub security: Array<'a, CallbackSecurity<'a>, ITEMS4_MAX>,
    }
}

message! {
    /// Result of a CREATE_SESSION that went well (`CREATE_SESSION4resok`).
    pub struct Success {
        /// The session.
        pub session: SessionId,
        /// Number of the request.
        pub sequence: u32,
        /// The flags that are granted.
        pub flags: u32,
        /// The channel for calls.
        pub fore: ChannelSizes,
        /// The channel for callbacks.
        pub back: ChannelSizes,
    }
}
