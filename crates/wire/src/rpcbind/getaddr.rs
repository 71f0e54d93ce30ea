//! GETADDR (RFC 1833 2.2.1, `RPCBPROC_GETADDR`) and GETVERSADDR (2.2.2, `RPCBPROC_GETVERSADDR`): where a program
//! listens. They differ in what is answered for a version that is not registered: another version's address, or none.

use super::{Binding, Text};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of GETADDR.
pub const PROCEDURE: u32 = 3;
/// Number of GETVERSADDR, of version 4 alone.
pub const PROCEDURE_OF_VERSION: u32 = 9;

/// Arguments of both (`rpcb`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// What is looked for. The network is that of the call, whatever stands here.
    pub binding: Binding<'a>,
}

/// Answer of both (`string`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The universal address; empty if the program is not registered.
    pub address: Text<'a>,
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

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { address: Text::decode(decoder)? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.address.encode(encoder);
    }
}
