//! The types that procedures share (RFC 1813 5.1).

use crate::limits::{HOST_NAME_MAX, MOUNT_PATH_MAX};
use crate::message::{enumeration, opaque};
use crate::xdr::{DecodeError, DecodeProblem, Decoder};

opaque! {
    /// A path on the server (`dirpath`), as the client sent it: not checked yet.
    pub struct DirectoryPath, MOUNT_PATH_MAX, "path";

    /// The name of a host, or of a group of hosts (`name`).
    pub struct HostName, HOST_NAME_MAX, "host name";
}

enumeration! {
    /// Why MNT is refused (`mountstat3`).
    pub enum Status, "status" {
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
}

impl Status {
    /// The status of this number; `what` and the decoder give the error its place.
    pub(super) fn from_number(number: u32, decoder: &Decoder<'_>) -> Result<Self, DecodeError> {
        let known = Self::ALL.iter().find(|&&status| status as u32 == number);
        known.copied().ok_or(decoder.refuse("status", 4, DecodeProblem::UnknownValue(number)))
    }
}
