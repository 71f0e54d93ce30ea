//! SETATTR (RFC 8881 18.30): sets attributes of the current node.

use super::attributes::Values;
use super::{Bitmap, StateId};
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 34;

message! {
    /// Arguments of SETATTR (`SETATTR4args`).
    pub struct Arguments<'a> {
        /// The open that a change of size goes by.
        pub state: StateId,
        /// What to set.
        pub attributes: Values<'a>,
    }
}

message! {
    /// Result of a SETATTR (`SETATTR4res`), which went well or was refused: a refusal holds it too, so that the client
    /// knows what
    /// was set before.
    #[derive(Default)]
    pub struct Success {
        /// The attributes that were set.
        pub attributes_set: Bitmap,
    }
}
