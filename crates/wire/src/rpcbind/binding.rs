//! A binding: the type that procedures share (RFC 1833 2.1, `rpcb`).

use super::Text;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Where a version of a program listens (`rpcb`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding<'a> {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// How it is reached: a network id such as `tcp6`.
    pub network: Text<'a>,
    /// Where: a universal address. A caller of GETADDR may put here the address at which it reached the server.
    pub address: Text<'a>,
    /// Who registered it.
    pub owner: Text<'a>,
}

impl<'a> Decode<'a> for Binding<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            program: decoder.u32("program")?,
            version: decoder.u32("version")?,
            network: Text::decode(decoder)?,
            address: Text::decode(decoder)?,
            owner: Text::decode(decoder)?,
        })
    }
}

impl Encode for Binding<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.program);
        encoder.u32(self.version);
        for text in [self.network, self.address, self.owner] {
            text.encode(encoder);
        }
    }
}
