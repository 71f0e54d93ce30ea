//! The answer to the question whether TLS may begin (RFC 9289 4.1): that of any NULL call, with a verifier that says so.

use super::flavor::AuthFlavor;
use super::reply::{Accepted, ReplyHeader};
use crate::limits::CREDENTIALS_MAX;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// What the verifier says.
const STARTTLS: &[u8; 8] = b"STARTTLS";

/// What a server answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsAnswer {
    /// The next byte in both directions is TLS.
    Begins {
        /// That of the call.
        xid: u32,
    },
    /// It does not begin.
    Refused(ReplyHeader),
}

impl Encode for TlsAnswer {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Refused(header) => header.encode(encoder),
            // A reply, accepted, the verifier, success.
            Self::Begins { xid } => {
                [*xid, 1, 0, AuthFlavor::NONE.0].into_iter().for_each(|word| encoder.u32(word));
                encoder.opaque(STARTTLS);
                encoder.u32(0);
            }
        }
    }
}

impl<'a> Decode<'a> for TlsAnswer {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mut verifier = decoder.clone();
        let header = ReplyHeader::decode(decoder)?;
        if header.outcome != Ok(Accepted::Success) {
            return Ok(Self::Refused(header));
        }
        for what in ["xid", "message type", "reply status"] {
            verifier.u32(what)?;
        }
        let flavor = AuthFlavor(verifier.u32("verifier flavor")?);
        let says = verifier.opaque(CREDENTIALS_MAX, "verifier")?;
        let begins = flavor == AuthFlavor::NONE && says == STARTTLS;
        Ok(if begins { Self::Begins { xid: header.xid } } else { Self::Refused(header) })
    }
}
