//! COPY (RFC 7862 15.2): copies a range of the saved file into the current one, on the server. A result with
//! NFS4ERR_OFFLOAD_NO_REQS holds [`Requirements`].

use super::{Opaque, Stability, StateId, Verifier};
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::xdr::{Array, Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 60;

/// A server to copy from (`netloc4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkLocation<'a> {
    /// `NL4_NAME`: a host's name.
    Name(Opaque<'a>),
    /// `NL4_URL`
    Url(Opaque<'a>),
    /// `NL4_NETADDR`: a network id and a universal address (`netaddr4`).
    Address(Opaque<'a>, Opaque<'a>),
}

message! {
    /// Arguments of COPY (`COPY4args`).
    pub struct Arguments<'a> {
        /// The open of the saved file.
        pub source: StateId,
        /// The open of the current file.
        pub destination: StateId,
        /// Where the range in the saved file starts, in bytes.
        pub source_offset: u64,
        /// Where it goes in the current file, in bytes.
        pub destination_offset: u64,
        /// Its length in bytes; 0 means to the end of the saved file.
        pub count: u64,
        /// Whether it must be copied from start to end.
        pub consecutive: bool,
        /// Whether it must be copied when the call is answered.
        pub synchronous: bool,
        /// The servers that have the saved file; none for this one.
        pub servers: Array<'a, NetworkLocation<'a>, ITEMS4_MAX>,
    }
}

message! {
    /// How a server copies (`copy_requirements4`).
    pub struct Requirements {
        /// Whether from start to end.
        pub consecutive: bool,
        /// Whether the copy was made when the call is answered.
        pub synchronous: bool,
    }
}

message! {
    /// Result of a COPY that went well (`COPY4resok`).
    pub struct Success {
        /// Names the copy if it goes on.
        pub state: Option<StateId>,
        /// Bytes copied.
        pub count: u64,
        /// How durable they are.
        pub committed: Stability,
        /// Changes when uncommitted data was lost.
        pub verifier: Verifier,
        /// How it was copied.
        pub requirements: Requirements,
    }
}

impl<'a> Decode<'a> for NetworkLocation<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("kind of location")? {
            1 => Self::Name(Opaque::decode(decoder)?),
            2 => Self::Url(Opaque::decode(decoder)?),
            3 => Self::Address(Opaque::decode(decoder)?, Opaque::decode(decoder)?),
            other => return Err(decoder.refuse("kind of location", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for NetworkLocation<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let (kind, first, second) = match self {
            Self::Name(name) => (1, name, None),
            Self::Url(url) => (2, url, None),
            Self::Address(network, address) => (3, network, Some(address)),
        };
        encoder.u32(kind);
        first.encode(encoder);
        second.into_iter().for_each(|text| text.encode(encoder));
    }
}
