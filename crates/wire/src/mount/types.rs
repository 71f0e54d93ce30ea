//! The types that procedures share (RFC 1813 5.1).

use crate::limits::{HOST_NAME_MAX, MOUNT_PATH_MAX};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// A path on the server (`dirpath`), as the client sent it: not checked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DirectoryPath<'a>(pub &'a [u8]);

/// The name of a host, or of a group of hosts (`name`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostName<'a>(pub &'a [u8]);

/// Why MNT is refused (`mountstat3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// `MNT3ERR_PERM`
    NotPermitted = 1,
    /// `MNT3ERR_NOENT`
    NotFound = 2,
    /// `MNT3ERR_IO`
    Io = 5,
    /// `MNT3ERR_ACCES`
    AccessDenied = 13,
    /// `MNT3ERR_NOTDIR`
    NotDirectory = 20,
    /// `MNT3ERR_INVAL`
    Invalid = 22,
    /// `MNT3ERR_NAMETOOLONG`
    NameTooLong = 63,
    /// `MNT3ERR_NOTSUPP`
    NotSupported = 10004,
    /// `MNT3ERR_SERVERFAULT`
    ServerFault = 10006,
}

impl Status {
    /// Every status but `MNT3_OK`.
    pub const ALL: &[Self] = &[
        Self::NotPermitted,
        Self::NotFound,
        Self::Io,
        Self::AccessDenied,
        Self::NotDirectory,
        Self::Invalid,
        Self::NameTooLong,
        Self::NotSupported,
        Self::ServerFault,
    ];

    /// The status of this number; `what` and the decoder give the error its place.
    pub(super) fn from_number(number: u32, decoder: &Decoder<'_>) -> Result<Self, DecodeError> {
        let known = Self::ALL.iter().find(|&&status| status as u32 == number);
        known.copied().ok_or(decoder.refuse("status", 4, DecodeProblem::UnknownValue(number)))
    }
}

impl<'a> Decode<'a> for DirectoryPath<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.opaque(MOUNT_PATH_MAX, "path").map(Self)
    }
}

impl Encode for DirectoryPath<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.0);
    }
}

impl<'a> Decode<'a> for HostName<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.opaque(HOST_NAME_MAX, "host name").map(Self)
    }
}

impl Encode for HostName<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.0);
    }
}
