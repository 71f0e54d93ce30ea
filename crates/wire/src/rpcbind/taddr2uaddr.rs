//! TADDR2UADDR (RFC 1833 2.2.1, `RPCBPROC_TADDR2UADDR`): the text of a transport's address from its bytes.

use super::Text;
use super::uaddr2taddr::TransportAddress;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 8;

/// Arguments of TADDR2UADDR (`netbuf`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// The address.
    pub address: TransportAddress<'a>,
}

/// Answer of TADDR2UADDR (`string`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The universal address; empty if those bytes are no address.
    pub address: Text<'a>,
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { address: TransportAddress::decode(decoder)? })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.address.encode(encoder);
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
