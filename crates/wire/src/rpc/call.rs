//! A call (RFC 5531 9, `call_body`).

use super::auth::{Credentials, TlsProbe, encode_none, skip_verifier};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// The one version of RPC.
pub const RPC_VERSION: u32 = 2;
/// `msg_type` of a call.
const CALL: u32 = 0;
/// `msg_type` of a reply.
const REPLY: u32 = 1;

/// What a call is for, and who makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallHeader<'a> {
    /// Matches the reply to the call.
    pub xid: u32,
    /// The program called.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure of that version.
    pub procedure: u32,
    /// Who calls.
    pub credentials: Credentials<'a>,
}

/// What the first bytes of a message turn out to be.
#[derive(Debug, Clone)]
pub enum Call<'a> {
    /// A call, and a decoder that stands at its arguments.
    Call(CallHeader<'a>, Decoder<'a>),
    /// No call, but a reply: its sender takes calls on this connection, too, or is confused.
    Reply,
    /// A call in another version of RPC: answered RPC_MISMATCH.
    OtherVersion {
        /// Of the call.
        xid: u32,
    },
    /// A call whose header ends too early or is malformed: answered GARBAGE_ARGS, or not at all.
    Malformed {
        /// Of the call, if it got that far.
        xid: Option<u32>,
        /// What is wrong with it.
        error: DecodeError,
    },
}

impl<'a> Call<'a> {
    /// Reads the header of a message.
    pub fn parse(message: &'a [u8]) -> Self {
        let mut decoder = Decoder::new(message);
        let xid = match decoder.u32("xid") {
            Ok(xid) => xid,
            Err(error) => return Self::Malformed { xid: None, error },
        };
        match CallHeader::after_xid(xid, &mut decoder) {
            Ok(Some(header)) => Self::Call(header, decoder),
            Ok(None) => Self::OtherVersion { xid },
            // Not a call at all: a reply here would answer a reply, and two servers could play ping-pong with it.
            Err(DecodeError {
                what: "message type", problem: DecodeProblem::UnknownValue(REPLY), ..
            }) => Self::Reply,
            Err(error) if error.what == "message type" => Self::Malformed { xid: None, error },
            Err(error) => Self::Malformed { xid: Some(xid), error },
        }
    }
}

impl<'a> CallHeader<'a> {
    /// `None`: another version of RPC.
    fn after_xid(xid: u32, decoder: &mut Decoder<'a>) -> Result<Option<Self>, DecodeError> {
        let kind = decoder.u32("message type")?;
        if kind != CALL {
            return Err(decoder.refuse("message type", 4, DecodeProblem::UnknownValue(kind)));
        }
        if decoder.u32("RPC version")? != RPC_VERSION {
            return Ok(None);
        }
        let mut header = Self {
            xid,
            program: decoder.u32("program")?,
            version: decoder.u32("version")?,
            procedure: decoder.u32("procedure")?,
            credentials: Credentials::decode(decoder)?,
        };
        let has_verifier = !skip_verifier(decoder)?;
        if has_verifier && header.credentials == Credentials::Tls(TlsProbe::Plain) {
            header.credentials = Credentials::Tls(TlsProbe::WithVerifier);
        }
        Ok(Some(header))
    }
}

impl CallHeader<'_> {
    /// All of it but the verifier: what a verifier of RPCSEC_GSS is about (RFC 2203 5.3.1).
    pub fn encode_unsigned(&self, encoder: &mut Encoder<'_>) {
        for word in [self.xid, CALL, RPC_VERSION, self.program, self.version, self.procedure] {
            encoder.u32(word);
        }
        self.credentials.encode(encoder);
    }
}

impl Encode for CallHeader<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.encode_unsigned(encoder);
        encode_none(encoder);
    }
}
