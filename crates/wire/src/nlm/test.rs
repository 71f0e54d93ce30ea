//! TEST: whether a range of a file could be locked, and if not, why.

use super::{Cookie, Holder, Lock, Status};
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure (`NLMPROC4_TEST`).
pub const PROCEDURE: u32 = 1;
/// Its first half (`NLMPROC4_TEST_MSG`).
pub const MESSAGE: u32 = 6;
/// Its second half (`NLMPROC4_TEST_RES`).
pub const RESULT: u32 = 11;

message! {
    /// Arguments of TEST and GRANTED (`nlm4_testargs`).
    pub struct Arguments<'a> {
        /// What the caller finds its call by.
        pub cookie: Cookie<'a>,
        /// Whether the lock would exclude all others.
        pub exclusive: bool,
        /// The lock.
        pub lock: Lock<'a>,
    }
}

/// How a TEST ended (`nlm4_testrply`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// `NLM4_DENIED`, and the lock that is in the way.
    Denied(Holder<'a>),
    /// Another status. Not `NLM4_DENIED`.
    Other(Status),
}

message! {
    /// The reply (`nlm4_testres`).
    pub struct Reply<'a> {
        /// That of the call.
        pub cookie: Cookie<'a>,
        /// How the call ended.
        pub outcome: Outcome<'a>,
    }
}

impl<'a> Decode<'a> for Outcome<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match Status::decode(decoder)? {
            Status::Denied => Self::Denied(Holder::decode(decoder)?),
            status => Self::Other(status),
        })
    }
}

impl Encode for Outcome<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Denied(holder) => {
                Status::Denied.encode(encoder);
                holder.encode(encoder);
            }
            Self::Other(status) => status.encode(encoder),
        }
    }
}
