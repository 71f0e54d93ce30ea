//! TEST, LOCK, CANCEL, UNLOCK and NM_LOCK: they share the start of their arguments and the reply that refuses.

use super::{Cookie, Status};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of LOCK (`NLMPROC4_LOCK`).
pub const PROCEDURE: u32 = 2;

/// Start of the arguments (`nlm4_testargs`, `nlm4_lockargs`, `nlm4_cancargs`, `nlm4_unlockargs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// What the client finds its call by.
    pub cookie: Cookie<'a>,
}

/// The reply (`nlm4_res`). That of TEST (`nlm4_testres`) is the same for every status but `NLM4_DENIED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// That of the call.
    pub cookie: Cookie<'a>,
    /// How the call ended.
    pub status: Status,
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { cookie: Cookie::decode(decoder)? })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.cookie.encode(encoder);
    }
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { cookie: Cookie::decode(decoder)?, status: Status::decode(decoder)? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.cookie.encode(encoder);
        self.status.encode(encoder);
    }
}
