//! BACKCHANNEL_CTL (RFC 8881 18.33): changes how callbacks of a session are made. The result holds nothing.

use super::CallbackSecurity;
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::xdr::Array;

/// Number of the operation.
pub const OPERATION: u32 = 40;

message! {
    /// Arguments of BACKCHANNEL_CTL (`BACKCHANNEL_CTL4args`).
    pub struct Arguments<'a> {
        /// The program number of callbacks.
        pub program: u32,
        /// Credentials that they may come with.
        pub security: Array<'a, CallbackSecurity<'a>, ITEMS4_MAX>,
    }
}
