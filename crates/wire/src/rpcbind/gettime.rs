//! GETTIME (RFC 1833 2.2.1, `RPCBPROC_GETTIME`): what the host's clock shows. No arguments.

use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 6;

/// Answer of GETTIME (`unsigned int`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Seconds since 1970.
    pub seconds: u32,
}

impl Decode<'_> for Reply {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { seconds: decoder.u32("seconds")? })
    }
}

impl Encode for Reply {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.seconds);
    }
}
