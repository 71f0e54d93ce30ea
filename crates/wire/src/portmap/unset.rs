//! UNSET (RFC 1833 3.2, `PMAPPROC_UNSET`): takes a registration back.

use super::Mapping;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 2;

/// Arguments of UNSET (`mapping`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments {
    /// What to take back; protocol and port are ignored.
    pub mapping: Mapping,
}

/// Answer of UNSET (`bool`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Whether there was one.
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
