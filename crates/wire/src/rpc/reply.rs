//! A reply (RFC 5531 9, `reply_body`): accepted with a status, or denied.

use super::auth::AuthStatus;
use super::gss_verifier::GssVerifier;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// `msg_type` of a reply.
const REPLY: u32 = 1;
/// No verifier.
const NONE: GssVerifier<'static> = GssVerifier { mic: &[] };

/// How the server took an accepted call (`accept_stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Accepted {
    /// Done: the procedure's own result follows.
    Success,
    /// The program is not served here.
    ProgramUnavailable,
    /// The program is, but not in that version.
    ProgramMismatch {
        /// The lowest version served.
        low: u32,
        /// The highest version served.
        high: u32,
    },
    /// That version has no such procedure.
    ProcedureUnavailable,
    /// The arguments cannot be decoded.
    GarbageArguments,
    /// Something went wrong on this side, such as memory.
    SystemError,
}

/// Why a call is not accepted (`reject_stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Denied {
    /// Another version of RPC than 2.
    RpcMismatch,
    /// The credentials are refused.
    Authentication(AuthStatus),
}

/// A reply up to where the procedure's result starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplyHeader {
    /// That of the call.
    pub xid: u32,
    /// What became of it.
    pub outcome: Result<Accepted, Denied>,
}

impl ReplyHeader {
    /// Writes it with this verifier, if it has one.
    pub(super) fn encode_with(&self, verifier: &GssVerifier<'_>, encoder: &mut Encoder<'_>) {
        encoder.u32(self.xid);
        encoder.u32(REPLY);
        match self.outcome {
            Ok(accepted) => {
                encoder.u32(0);
                verifier.encode(encoder);
                accepted.encode(encoder);
            }
            Err(denied) => {
                encoder.u32(1);
                denied.encode(encoder);
            }
        }
    }
}

impl Encode for ReplyHeader {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.encode_with(&NONE, encoder);
    }
}

impl ReplyHeader {
    /// Reads it, and its verifier.
    pub(super) fn decode_with<'a>(decoder: &mut Decoder<'a>) -> Result<(Self, GssVerifier<'a>), DecodeError> {
        let xid = decoder.u32("xid")?;
        let kind = decoder.u32("message type")?;
        if kind != REPLY {
            return Err(decoder.refuse("message type", 4, DecodeProblem::UnknownValue(kind)));
        }
        if decoder.bool("reply status")? {
            return Ok((Self { xid, outcome: Err(Denied::decode(decoder)?) }, NONE));
        }
        let verifier = GssVerifier::decode(decoder)?;
        Ok((Self { xid, outcome: Ok(Accepted::decode(decoder)?) }, verifier))
    }
}

impl<'a> Decode<'a> for ReplyHeader {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Self::decode_with(decoder).map(|(header, _)| header)
    }
}

impl Encode for Accepted {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match *self {
            Self::Success => encoder.u32(0),
            Self::ProgramUnavailable => encoder.u32(1),
            Self::ProgramMismatch { low, high } => {
                [2, low, high].into_iter().for_each(|word| encoder.u32(word))
            }
            Self::ProcedureUnavailable => encoder.u32(3),
            Self::GarbageArguments => encoder.u32(4),
            Self::SystemError => encoder.u32(5),
        }
    }
}

impl<'a> Decode<'a> for Accepted {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("accept status")? {
            0 => Self::Success,
            1 => Self::ProgramUnavailable,
            2 => Self::ProgramMismatch {
                low: decoder.u32("lowest version")?,
                high: decoder.u32("highest version")?,
            },
            3 => Self::ProcedureUnavailable,
            4 => Self::GarbageArguments,
            5 => Self::SystemError,
            other => return Err(decoder.refuse("accept status", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for Denied {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match *self {
            Self::RpcMismatch => {
                [0, super::RPC_VERSION, super::RPC_VERSION].into_iter().for_each(|word| encoder.u32(word));
            }
            Self::Authentication(status) => {
                [1, status.to_wire()].into_iter().for_each(|word| encoder.u32(word))
            }
        }
    }
}

impl<'a> Decode<'a> for Denied {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        if decoder.bool("reject status")? {
            return Ok(Self::Authentication(AuthStatus::from_wire(decoder.u32("authentication status")?)));
        }
        decoder.u32("lowest RPC version")?;
        decoder.u32("highest RPC version")?;
        Ok(Self::RpcMismatch)
    }
}
