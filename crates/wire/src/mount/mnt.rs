//! MNT (RFC 1813 5.2.1, RFC 1094 A.5): the handle of an exported directory.

use super::{DirectoryPath, Status};
use crate::message::message;
use crate::nfs3::{FileHandle, HANDLE_MAX};
use crate::rpc::AuthFlavor;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 1;
/// The length of a handle of version 1, in bytes (`FHSIZE`): never less, never more.
pub const HANDLE_1_SIZE: usize = 32;
/// The most authentication flavors of an answer. The protocol sets no limit; fewer than this are assigned.
const FLAVORS_MAX: u32 = 64;

message! {
    /// Arguments of MNT (`dirpath`).
    pub struct Arguments<'a> {
        /// What to mount.
        pub path: DirectoryPath<'a>,
    }
}

/// Answer of version 3 that went well (`mountres3_ok`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success<'a> {
    /// The directory.
    pub handle: FileHandle<'a>,
    /// How calls on it may be authenticated, the preferred flavor first.
    pub flavors: Vec<AuthFlavor>,
}

/// Answer of version 3 (`mountres3`).
pub type Reply<'a> = Result<Success<'a>, Status>;

message! {
    /// Answer of version 1 that went well.
    pub struct Success1 {
        /// The directory (`fhandle`).
        pub handle: [u8; HANDLE_1_SIZE],
    }
}

/// Answer of version 1 (`fhstatus`). A refusal is a UNIX error number, which the statuses of version 3 are too as
/// far as a version 1 server gives them.
pub type Reply1 = Result<Success1, Status>;

impl<'a> Decode<'a> for Success<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let handle = decoder.opaque(HANDLE_MAX as u32, "file handle").map(FileHandle)?;
        let count = decoder.length(FLAVORS_MAX, "authentication flavors")?;
        let flavors = (0..count)
            .map(|_| decoder.u32("authentication flavor").map(AuthFlavor))
            .collect::<Result<_, _>>()?;
        Ok(Self { handle, flavors })
    }
}

impl Encode for Success<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.handle.encode(encoder);
        encoder.u32(self.flavors.len() as u32);
        self.flavors.iter().for_each(|flavor| encoder.u32(flavor.0));
    }
}

impl<'a, S: Decode<'a>> Decode<'a> for Result<S, Status> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        match decoder.u32("status")? {
            0 => Ok(Ok(S::decode(decoder)?)),
            number => Ok(Err(Status::from_number(number, decoder)?)),
        }
    }
}

impl<S: Encode> Encode for Result<S, Status> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Ok(success) => {
                encoder.u32(0);
                success.encode(encoder);
            }
            Err(status) => encoder.u32(*status as u32),
        }
    }
}
