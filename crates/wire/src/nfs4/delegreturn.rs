//! DELEGRETURN (RFC 8881 18.6): gives a delegation of the current node back. The result holds nothing.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 8;

message! {
    /// Arguments of DELEGRETURN (`DELEGRETURN4args`).
    pub struct Arguments {
        /// The delegation.
        pub state: StateId,
    }
}
