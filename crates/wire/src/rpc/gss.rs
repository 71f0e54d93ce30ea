//! RPCSEC_GSS, version 1 (RFC 2203): how a context is made, what is signed, and how arguments and results are protected. What
//! signs and encrypts is not here: bytes go in and out as they are sent.

use std::ops::Range;

use super::flavor::AuthFlavor;
use super::gss_verifier::GssVerifier;
use super::reply::ReplyHeader;
use crate::limits::{CREDENTIALS_MAX, GSS_HANDLE_MAX, GSS_TOKEN_MAX, PROTECTED_MAX};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Bytes in front of a protected body: length and sequence number of integrity's `databody_integ`.
pub const INTEGRITY_HEAD: usize = 8;

/// Words of a call in front of its credential: xid, type, version of RPC, program, version, procedure.
const CALL_WORDS: usize = 6;

/// The parts of a call that its verifier is about (RFC 2203 5.3.1), as they were received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedCall<'a> {
    /// What is signed: all from the xid through the credential.
    pub signed: &'a [u8],
    /// The credential's body.
    pub credential: &'a [u8],
    /// The MIC token over `signed`; empty if the verifier is of another flavor.
    pub mic: &'a [u8],
}

impl<'a> SignedCall<'a> {
    /// Those of a message, which must be a call with a credential of RPCSEC_GSS.
    ///
    /// # Errors
    /// Its header ends too early, or the credential is of another flavor.
    pub fn of(message: &'a [u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(message);
        decoder.bytes(CALL_WORDS * 4, "call header")?;
        let flavor = decoder.u32("credentials flavor")?;
        if flavor != AuthFlavor::GSS.0 {
            return Err(decoder.refuse("credentials flavor", 4, DecodeProblem::UnknownValue(flavor)));
        }
        let credential = decoder.opaque(CREDENTIALS_MAX, "credentials")?;
        let signed = &message[..decoder.position()];
        let GssVerifier { mic } = GssVerifier::decode(&mut decoder)?;
        Ok(Self { signed, credential, mic })
    }
}

/// A reply's header with its verifier. One that is denied has none (RFC 5531 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedReply<'a> {
    /// What it answers, and how.
    pub header: ReplyHeader,
    /// The MIC token; empty if there is none.
    pub mic: &'a [u8],
}

/// Where the token of a [`SignedReply`] begins: behind xid, type, status, flavor and length.
pub const REPLY_MIC_AT: usize = 20;

impl Encode for SignedReply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.header.encode_with(&GssVerifier { mic: self.mic }, encoder);
    }
}

impl<'a> Decode<'a> for SignedReply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let (header, verifier) = ReplyHeader::decode_with(decoder)?;
        Ok(Self { header, mic: verifier.mic })
    }
}

/// Arguments of INIT and CONTINUE_INIT (`rpc_gss_init_arg`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GssInit<'a> {
    /// The token of the mechanism.
    pub token: &'a [u8],
}

impl<'a> Decode<'a> for GssInit<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { token: decoder.opaque(GSS_TOKEN_MAX, "GSS token")? })
    }
}

impl Encode for GssInit<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.token);
    }
}

/// Result of INIT and CONTINUE_INIT (`rpc_gss_init_res`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GssInitResult<'a> {
    /// The server's name of the context.
    pub handle: &'a [u8],
    /// `GSS_S_COMPLETE` (0), `GSS_S_CONTINUE_NEEDED` (1), or an error (RFC 2743).
    pub major: u32,
    /// What the mechanism says of an error.
    pub minor: u32,
    /// How far calls may be behind the latest of their context.
    pub window: u32,
    /// The token of the mechanism for the client.
    pub token: &'a [u8],
}

impl<'a> Decode<'a> for GssInitResult<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            handle: decoder.opaque(GSS_HANDLE_MAX, "context handle")?,
            major: decoder.u32("GSS major status")?,
            minor: decoder.u32("GSS minor status")?,
            window: decoder.u32("sequence window")?,
            token: decoder.opaque(GSS_TOKEN_MAX, "GSS token")?,
        })
    }
}

impl Encode for GssInitResult<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.handle);
        encoder.u32(self.major);
        encoder.u32(self.minor);
        encoder.u32(self.window);
        encoder.opaque(self.token);
    }
}

/// Arguments or results that are signed (`rpc_gss_integ_data`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedBody<'a> {
    /// What is signed: the sequence number and the body.
    pub signed: &'a [u8],
    /// The MIC token over it.
    pub mic: &'a [u8],
}

impl<'a> SignedBody<'a> {
    /// The sequence number and the body, once the signature was checked.
    ///
    /// # Errors
    /// There is not even a number.
    pub fn parts(&self) -> Result<(u32, &'a [u8]), DecodeError> {
        numbered(self.signed)
    }

    /// The bytes in front of a body of this length: the signature is over the last four of them, and the body.
    pub fn head(sequence: u32, body: usize) -> [u8; INTEGRITY_HEAD] {
        let length = u32::try_from(body + 4).expect("messages are far below 4 GiB");
        let mut head = [0; INTEGRITY_HEAD];
        head[..4].copy_from_slice(&length.to_be_bytes());
        head[4..].copy_from_slice(&sequence.to_be_bytes());
        head
    }
}

impl<'a> Decode<'a> for SignedBody<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let signed = decoder.opaque(PROTECTED_MAX, "signed body")?;
        if !signed.len().is_multiple_of(4) {
            let odd = DecodeProblem::UnknownValue(signed.len() as u32);
            return Err(decoder.refuse("signed body", signed.len(), odd));
        }
        Ok(Self { signed, mic: decoder.opaque(CREDENTIALS_MAX, "checksum")? })
    }
}

impl Encode for SignedBody<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.signed);
        encoder.opaque(self.mic);
    }
}

/// Arguments or results that are encrypted (`rpc_gss_priv_data`): where their Wrap token is, to be opened in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedBody {
    /// The token, in bytes from where the arguments or results start.
    pub token: Range<usize>,
}

impl SealedBody {
    /// Where the token is in these arguments or results, which have nothing else.
    ///
    /// # Errors
    /// They are cut short, or have more.
    pub fn find(arguments: &[u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(arguments);
        let token = decoder.opaque(PROTECTED_MAX, "sealed body")?;
        decoder.finish("sealed body")?;
        Ok(Self { token: 4..4 + token.len() })
    }

    /// The sequence number and the body in an opened token.
    ///
    /// # Errors
    /// There is not even a number.
    pub fn parts(opened: &[u8]) -> Result<(u32, &[u8]), DecodeError> {
        numbered(opened)
    }
}

fn numbered(protected: &[u8]) -> Result<(u32, &[u8]), DecodeError> {
    let mut decoder = Decoder::new(protected);
    let sequence = decoder.u32("sequence number of the body")?;
    Ok((sequence, decoder.rest()))
}
