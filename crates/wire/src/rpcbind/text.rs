//! A short text of rpcbind: a network id, a universal address, or an owner.

use crate::limits::TEXT_MAX;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

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
