//! GETPORT (RFC 1833 3.2, `PMAPPROC_GETPORT`): on which port a program listens.

use super::Mapping;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 3;

/// Arguments of GETPORT (`mapping`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments {
    /// What is looked for; its port is ignored.
    pub mapping: Mapping,
}

/// Answer of GETPORT (`unsigned int`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The port; 0 if the program is not registered.
    pub port: u32,
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
        Ok(Self { port: decoder.u32("port")? })
    }
}

impl Encode for Reply {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.port);
    }
}
