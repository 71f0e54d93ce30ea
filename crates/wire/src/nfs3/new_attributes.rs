//! The attributes that a client sets (RFC 1813 2.6, `sattr3`).

use super::{Time, message::message};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// How a time is set (`set_atime`, `set_mtime`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SetTime {
    /// `DONT_CHANGE`.
    #[default]
    Keep,
    /// `SET_TO_SERVER_TIME`.
    ServerTime,
    /// `SET_TO_CLIENT_TIME`.
    ClientTime(Time),
}

message! {
    /// Attributes to set (`sattr3`).
    #[derive(Default)]
    pub struct NewAttributes {
        /// Permission bits (`set_mode3`); `None` leaves them.
        pub mode: Option<u32>,
        /// Owner.
        pub user: Option<u32>,
        /// Group.
        pub group: Option<u32>,
        /// Size in bytes.
        pub size: Option<u64>,
        /// Last access.
        pub accessed: SetTime,
        /// Last change of data.
        pub modified: SetTime,
    }
}

impl Encode for SetTime {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Keep => encoder.u32(0),
            Self::ServerTime => encoder.u32(1),
            Self::ClientTime(time) => {
                encoder.u32(2);
                time.encode(encoder);
            }
        }
    }
}

impl Decode<'_> for SetTime {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("how to set a time")? {
            0 => Self::Keep,
            1 => Self::ServerTime,
            2 => Self::ClientTime(Time::decode(decoder)?),
            other => return Err(decoder.refuse("how to set a time", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}
