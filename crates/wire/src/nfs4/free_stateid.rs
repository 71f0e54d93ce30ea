//! FREE_STATEID (RFC 8881 18.38): forgets a state that was revoked or has no locks. The result holds nothing.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 45;

message! {
    /// Arguments of FREE_STATEID (`FREE_STATEID4args`).
    pub struct Arguments {
        /// The state.
        pub state: StateId,
    }
}
