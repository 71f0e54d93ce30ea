//! DELEGPURGE (RFC 8881 18.5): no delegations from before the client's restart will be claimed. The result holds nothing.

use super::ClientId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 7;

message! {
    /// Arguments of DELEGPURGE (`DELEGPURGE4args`).
    pub struct Arguments {
        /// The client.
        pub client: ClientId,
    }
}
