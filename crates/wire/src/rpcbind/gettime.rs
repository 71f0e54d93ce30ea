//! GETTIME (RFC 1833 2.2.1, `RPCBPROC_GETTIME`): what the host's clock shows. No arguments.

use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 6;

message! {
    /// Answer of GETTIME (`unsigned int`).
    pub struct Reply {
        /// Seconds since 1970.
        pub seconds: u32,
    }
}
