//! GETATTR (RFC 8881 18.7): attributes of the current node. A server writes the result with [`super::attributes::write`].

use super::Bitmap;
use super::attributes::Values;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 9;

message! {
    /// Arguments of GETATTR (`GETATTR4args`).
    pub struct Arguments {
        /// The attributes asked for.
        pub wanted: Bitmap,
    }
}

message! {
    /// Result of a GETATTR that went well (`GETATTR4resok`).
    pub struct Success<'a> {
        /// Those of them that the server has.
        pub attributes: Values<'a>,
    }
}
