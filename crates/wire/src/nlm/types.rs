//! The types that procedures share.

use crate::limits::LOCK_COOKIE_MAX;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// What a client finds its call by (`netobj`); the reply repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cookie<'a>(pub &'a [u8]);

/// How a call ended (`nlm4_stats`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// `NLM4_GRANTED`
    Granted = 0,
    /// `NLM4_DENIED_NOLOCKS`: clients report it as ENOLCK.
    NoLocks = 2,
}

impl<'a> Decode<'a> for Cookie<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.opaque(LOCK_COOKIE_MAX, "cookie").map(Self)
    }
}

impl Encode for Cookie<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.0);
    }
}

impl Decode<'_> for Status {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match decoder.u32("status")? {
            0 => Ok(Self::Granted),
            2 => Ok(Self::NoLocks),
            other => Err(decoder.refuse("status", 4, DecodeProblem::UnknownValue(other))),
        }
    }
}

impl Encode for Status {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(*self as u32);
    }
}
