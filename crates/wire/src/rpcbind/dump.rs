//! DUMP (RFC 1833 2.2.1, `RPCBPROC_DUMP`): everything that is registered.

use super::Binding;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure; it has no arguments.
pub const PROCEDURE: u32 = 4;
/// The most bindings that are taken from an answer. The protocol sets no limit.
const BINDINGS_MAX: u32 = 65_536;

/// Answer of DUMP (`rpcblist_ptr`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply<'a> {
    /// The bindings.
    pub bindings: Vec<Binding<'a>>,
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { bindings: decoder.list(BINDINGS_MAX, "bindings")? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.list(&self.bindings);
    }
}
