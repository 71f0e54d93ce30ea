//! CALLIT (RFC 1833 3.2, `PMAPPROC_CALLIT`): has the portmapper call a program in the caller's place. rpcbind's BCAST and
//! INDIRECT take the same arguments.

use crate::limits::CALLIT_MAX;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 5;

/// Arguments of CALLIT (`call_args`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// The program to call.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure of that version.
    pub procedure: u32,
    /// The procedure's arguments.
    pub arguments: &'a [u8],
}

/// Answer of CALLIT (`call_result`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The program's port.
    pub port: u32,
    /// The procedure's result.
    pub result: &'a [u8],
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            program: decoder.u32("program")?,
            version: decoder.u32("version")?,
            procedure: decoder.u32("procedure")?,
            arguments: decoder.opaque(CALLIT_MAX, "arguments")?,
        })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for word in [self.program, self.version, self.procedure] {
            encoder.u32(word);
        }
        encoder.opaque(self.arguments);
    }
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { port: decoder.u32("port")?, result: decoder.opaque(CALLIT_MAX, "result")? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.port);
        encoder.opaque(self.result);
    }
}
