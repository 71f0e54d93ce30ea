//! DUMP (RFC 1833 3.2, `PMAPPROC_DUMP`): everything that is registered.

use super::Mapping;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure; it has no arguments.
pub const PROCEDURE: u32 = 4;
/// The most mappings that are taken from an answer. The protocol sets no limit.
const MAPPINGS_MAX: u32 = 65_536;

/// Answer of DUMP (`pmaplist`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The mappings.
    pub mappings: Vec<Mapping>,
}

impl Decode<'_> for Reply {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { mappings: decoder.list(MAPPINGS_MAX, "mappings")? })
    }
}

impl Encode for Reply {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.list(&self.mappings);
    }
}
