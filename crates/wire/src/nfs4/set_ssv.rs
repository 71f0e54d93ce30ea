//! SET_SSV (RFC 8881 18.47): changes the secret that protects a client's states.

use super::Opaque;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 54;

message! {
    /// Arguments of SET_SSV (`SET_SSV4args`).
    pub struct Arguments<'a> {
        /// What the secret is combined with.
        pub secret: Opaque<'a>,
        /// Proof by the secret.
        pub digest: Opaque<'a>,
    }
}

message! {
    /// Result of a SET_SSV that went well (`SET_SSV4resok`).
    pub struct Success<'a> {
        /// Proof by the new secret.
        pub digest: Opaque<'a>,
    }
}
