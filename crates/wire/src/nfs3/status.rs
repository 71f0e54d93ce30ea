//! How a call ends: well, or refused with a status (RFC 1813 2.6, `nfsstat3`).

use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// `NFS3_OK`: the call went well.
pub(super) const OK: u32 = 0;

/// A refusal: a status other than `NFS3_OK`, and what the procedure returns beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused<T> {
    /// Why.
    pub status: Status,
    /// What the procedure returns on refusal.
    pub detail: T,
}

macro_rules! statuses {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal,)*) => {
        /// Why a call is refused (`nfsstat3`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Status { $($(#[doc = $doc])* $name = $number,)* }

        impl Status {
            /// Every status but `NFS3_OK`.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in the RFC.
            pub fn rfc_name(self) -> &'static str {
                let quoted = match self { $(Self::$name => concat!($($doc),*),)* };
                quoted.trim_matches([' ', '`'])
            }

            fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

statuses! {
    /// `NFS3ERR_PERM`
    NotPermitted = 1,
    /// `NFS3ERR_NOENT`
    NotFound = 2,
    /// `NFS3ERR_IO`
    Io = 5,
    /// `NFS3ERR_NXIO`
    NoDevice = 6,
    /// `NFS3ERR_ACCES`
    AccessDenied = 13,
    /// `NFS3ERR_EXIST`
    Exists = 17,
    /// `NFS3ERR_XDEV`
    CrossDevice = 18,
    /// `NFS3ERR_NODEV`
    WrongDevice = 19,
    /// `NFS3ERR_NOTDIR`
    NotDirectory = 20,
    /// `NFS3ERR_ISDIR`
    IsDirectory = 21,
    /// `NFS3ERR_INVAL`
    Invalid = 22,
    /// `NFS3ERR_FBIG`
    TooBig = 27,
    /// `NFS3ERR_NOSPC`
    NoSpace = 28,
    /// `NFS3ERR_ROFS`
    ReadOnly = 30,
    /// `NFS3ERR_MLINK`
    TooManyLinks = 31,
    /// `NFS3ERR_NAMETOOLONG`
    NameTooLong = 63,
    /// `NFS3ERR_NOTEMPTY`
    NotEmpty = 66,
    /// `NFS3ERR_DQUOT`
    QuotaExceeded = 69,
    /// `NFS3ERR_STALE`
    Stale = 70,
    /// `NFS3ERR_REMOTE`
    Remote = 71,
    /// `NFS3ERR_BADHANDLE`
    BadHandle = 10001,
    /// `NFS3ERR_NOT_SYNC`
    NotSynchronised = 10002,
    /// `NFS3ERR_BAD_COOKIE`
    BadCookie = 10003,
    /// `NFS3ERR_NOTSUPP`
    NotSupported = 10004,
    /// `NFS3ERR_TOOSMALL`
    TooSmall = 10005,
    /// `NFS3ERR_SERVERFAULT`
    ServerFault = 10006,
    /// `NFS3ERR_BADTYPE`
    BadType = 10007,
    /// `NFS3ERR_JUKEBOX`
    Jukebox = 10008,
}

impl<'a, S: Decode<'a>, F: Decode<'a>> Decode<'a> for Result<S, Refused<F>> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        match decoder.u32("status")? {
            OK => Ok(Ok(S::decode(decoder)?)),
            number => {
                let status = Status::from_number(number).ok_or(decoder.refuse(
                    "status",
                    4,
                    DecodeProblem::UnknownValue(number),
                ))?;
                Ok(Err(Refused { status, detail: F::decode(decoder)? }))
            }
        }
    }
}

impl<S: Encode, F: Encode> Encode for Result<S, Refused<F>> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Ok(success) => {
                encoder.u32(OK);
                success.encode(encoder);
            }
            Err(refused) => {
                encoder.u32(refused.status as u32);
                refused.detail.encode(encoder);
            }
        }
    }
}

/// No bytes: the detail of a refused GETATTR, and both sides of NULL.
impl Encode for () {
    fn encode(&self, _: &mut Encoder<'_>) {}
}

impl Decode<'_> for () {
    fn decode(_: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

/// What may be absent: `post_op_attr`, `post_op_fh3`, `pre_op_attr`, `sattrguard3`.
impl<T: Encode> Encode for Option<T> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.optional(self.as_ref());
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Option<T> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.optional("presence")
    }
}
