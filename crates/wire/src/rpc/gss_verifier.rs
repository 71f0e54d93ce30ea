//! The verifier of RPCSEC_GSS, in calls and replies (RFC 2203 5.3.1, 5.3.3.2).

use super::flavor::AuthFlavor;
use crate::limits::CREDENTIALS_MAX;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// A verifier: the MIC token of a call's header, or of its sequence number in the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GssVerifier<'a> {
    /// The token. Empty: none, which is sent as AUTH_NONE.
    pub mic: &'a [u8],
}

impl Encode for GssVerifier<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let flavor = if self.mic.is_empty() { AuthFlavor::NONE } else { AuthFlavor::GSS };
        encoder.u32(flavor.0);
        encoder.opaque(self.mic);
    }
}

impl<'a> Decode<'a> for GssVerifier<'a> {
    /// Verifiers of other flavors count as none.
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let flavor = decoder.u32("verifier flavor")?;
        let body = decoder.opaque(CREDENTIALS_MAX, "verifier")?;
        Ok(Self { mic: if flavor == AuthFlavor::GSS.0 { body } else { &[] } })
    }
}
