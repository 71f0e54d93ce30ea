//! UADDR2TADDR (RFC 1833 2.2.1, `RPCBPROC_UADDR2TADDR`): the bytes of a transport's address from its text.

use super::{TEXT_MAX, Text};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 7;

/// Arguments of UADDR2TADDR (`string`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// A universal address.
    pub address: Text<'a>,
}

/// An address in the form of the server's own transport (`netbuf`): for the internet, its `sockaddr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportAddress<'a> {
    /// The room that the address was read into.
    pub room: u32,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Answer of UADDR2TADDR (`netbuf`); without bytes if there is no such address.
pub type Reply<'a> = TransportAddress<'a>;

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { address: Text::decode(decoder)? })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.address.encode(encoder);
    }
}

impl<'a> Decode<'a> for TransportAddress<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { room: decoder.u32("room")?, bytes: decoder.opaque(TEXT_MAX, "transport address")? })
    }
}

impl Encode for TransportAddress<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.room);
        encoder.opaque(self.bytes);
    }
}
