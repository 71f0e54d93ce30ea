//! UNSET (RFC 1833 2.2.1, `RPCBPROC_UNSET`): takes a registration back.

use super::Binding;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 2;

/// Arguments of UNSET (`rpcb`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// What to take back; the address is ignored, and an empty network means all of them.
    pub binding: Binding<'a>,
}

/// Answer of UNSET (`bool`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Whether there was one, and it is ours.
    pub done: bool,
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { binding: Binding::decode(decoder)? })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.binding.encode(encoder);
    }
}

impl Decode<'_> for Reply {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { done: decoder.bool("result")? })
    }
}

impl Encode for Reply {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.bool(self.done);
    }
}
