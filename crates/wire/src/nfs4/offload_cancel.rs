//! OFFLOAD_CANCEL (RFC 7862 15.8): stops a copy that goes on after its answer. The result holds nothing.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 66;

message! {
    /// Arguments of OFFLOAD_CANCEL (`OFFLOAD_CANCEL4args`).
    pub struct Arguments {
        /// The copy.
        pub state: StateId,
    }
}
