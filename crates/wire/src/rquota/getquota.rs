//! GETQUOTA: the quota of a user (version 1), or of a user or group (version 2).

use super::{QuotaPath, RemoteQuota};
use crate::message::message;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Number of the procedure (`RQUOTAPROC_GETQUOTA`).
pub const PROCEDURE: u32 = 1;
/// The kind of quota that users have (`RQUOTA_USRQUOTA`).
pub const USER: u32 = 0;
/// The kind of quota that groups have (`RQUOTA_GRPQUOTA`).
pub const GROUP: u32 = 1;

message! {
    /// Arguments of version 1 (`getquota_args`).
    pub struct Arguments1<'a> {
        /// The path that the client mounted.
        pub path: QuotaPath<'a>,
        /// The user.
        pub user: u32,
    }
}

message! {
    /// Arguments of version 2 (`ext_getquota_args`).
    pub struct Arguments2<'a> {
        /// The path that the client mounted.
        pub path: QuotaPath<'a>,
        /// The kind of quota: [`USER`], [`GROUP`], or one that is not known here.
        pub kind: u32,
        /// The user or group.
        pub id: u32,
    }
}

/// The answer (`getquota_rslt`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// `Q_OK`
    Quota(RemoteQuota),
    /// `Q_NOQUOTA`: there is none.
    NoQuota,
    /// `Q_EPERM`: the caller may not see it.
    NotPermitted,
}

impl Decode<'_> for Reply {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match decoder.u32("status")? {
            1 => RemoteQuota::decode(decoder).map(Self::Quota),
            2 => Ok(Self::NoQuota),
            3 => Ok(Self::NotPermitted),
            other => Err(decoder.refuse("status", 4, DecodeProblem::UnknownValue(other))),
        }
    }
}

impl Encode for Reply {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Quota(quota) => {
                encoder.u32(1);
                quota.encode(encoder);
            }
            Self::NoQuota => encoder.u32(2),
            Self::NotPermitted => encoder.u32(3),
        }
    }
}
