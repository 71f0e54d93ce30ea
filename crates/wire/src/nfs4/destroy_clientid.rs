//! DESTROY_CLIENTID (RFC 8881 18.50): forgets a client that has no sessions and states. The result holds nothing.

use super::ClientId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 57;

message! {
    /// Arguments of DESTROY_CLIENTID (`DESTROY_CLIENTID4args`).
    pub struct Arguments {
        /// The client.
        pub client: ClientId,
    }
}
