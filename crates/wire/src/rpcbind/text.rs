//! A short text of rpcbind: a network id, a universal address, or an owner.

use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// The longest text, in bytes. The protocol sets no limit; the longest real one is the path of a Unix socket, 108.
pub const TEXT_MAX: u32 = 1024;

/// A text as the peer sent it (`string<>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<'a>(pub &'a [u8]);

impl<'a> Decode<'a> for Text<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.opaque(TEXT_MAX, "text").map(Self)
    }
}

impl Encode for Text<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.0);
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}
