//! SET (RFC 1833 3.2, `PMAPPROC_SET`): registers a program.

use super::Mapping;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 1;

/// Arguments of SET (`mapping`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments {
    /// What to register.
    pub mapping: Mapping,
}

/// Answer of SET (`bool`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Whether it was: not if that program, version and protocol is registered already.
    pub done: bool,
}

impl Decode<'_> for Arguments {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { mapping: Mapping::decode(decoder)? })
    }
}

impl Encode for Arguments {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.mapping.encode(encoder);
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
