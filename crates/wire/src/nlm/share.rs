//! SHARE and UNSHARE: opens that exclude others. Their arguments start as those of LOCK do.

use super::{Cookie, Status};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of SHARE (`NLMPROC4_SHARE`).
pub const PROCEDURE: u32 = 20;

/// The reply (`nlm4_shareres`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// That of the call.
    pub cookie: Cookie<'a>,
    /// How the call ended.
    pub status: Status,
    /// Nothing uses it.
    pub sequence: u32,
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            cookie: Cookie::decode(decoder)?,
            status: Status::decode(decoder)?,
            sequence: decoder.u32("sequence")?,
        })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.cookie.encode(encoder);
        self.status.encode(encoder);
        encoder.u32(self.sequence);
    }
}
