//! When a node was used and changed.

use super::group::group;
use crate::nfs4::Time;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// How a time is set (`settime4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTime {
    /// `SET_TO_SERVER_TIME4`
    ServerTime,
    /// `SET_TO_CLIENT_TIME4`
    ClientTime(Time),
}

group! {
    /// When a node was used and changed (RFC 8881 5.8.2).
    pub struct Times {
        /// Last access (`time_access`).
        pub accessed: Time = TIME_ACCESS(47),
        /// Last access, to be set (`time_access_set`).
        pub set_accessed: SetTime = TIME_ACCESS_SET(48),
        /// Last backup (`time_backup`).
        pub backed_up: Time = TIME_BACKUP(49),
        /// Creation (`time_create`).
        pub created: Time = TIME_CREATE(50),
        /// Last change of attributes or data (`time_metadata`).
        pub changed: Time = TIME_METADATA(52),
        /// Last change of data (`time_modify`).
        pub modified: Time = TIME_MODIFY(53),
        /// Last change of data, to be set (`time_modify_set`).
        pub set_modified: SetTime = TIME_MODIFY_SET(54),
    }
}

impl Decode<'_> for SetTime {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("how to set a time")? {
            0 => Self::ServerTime,
            1 => Self::ClientTime(Time::decode(decoder)?),
            other => return Err(decoder.refuse("how to set a time", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for SetTime {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::ServerTime => encoder.u32(0),
            Self::ClientTime(time) => {
                encoder.u32(1);
                time.encode(encoder);
            }
        }
    }
}
