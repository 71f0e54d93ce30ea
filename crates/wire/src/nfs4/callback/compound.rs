//! CB_COMPOUND (RFC 8881 20, `CB_COMPOUND4args`): what stands before the operations of a callback.

use crate::limits::TAG_MAX;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Arguments of CB_COMPOUND up to its first operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// A text of the server's, which the reply repeats.
    pub tag: &'a [u8],
    /// The minor version, which all of its operations are of.
    pub minor_version: u32,
    /// Not used since minor version 1 (`callback_ident`).
    pub identifier: u32,
    /// How many operations follow, as the server claims.
    pub operations: u32,
}

impl<'a> Decode<'a> for Head<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            tag: decoder.opaque(TAG_MAX, "tag")?,
            minor_version: decoder.u32("minor version")?,
            identifier: decoder.u32("identifier")?,
            operations: decoder.u32("number of operations")?,
        })
    }
}

impl Encode for Head<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.tag);
        encoder.u32(self.minor_version);
        encoder.u32(self.identifier);
        encoder.u32(self.operations);
    }
}
