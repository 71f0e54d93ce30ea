//! READDIR (RFC 1813 3.3.16): the names in a directory. A server writes the reply with `listing::Writer`.

use super::{Attributes, FileHandle, NAME_MAX, Refused, listing, message::message};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 16;

message! {
    /// Arguments of READDIR (`READDIR3args`).
    pub struct Arguments<'a> {
        /// The directory.
        pub directory: FileHandle<'a>,
        /// The entry after which to go on; 0 for the start.
        pub cookie: u64,
        /// What the server gave with that cookie; zero for the start.
        pub verifier: [u8; 8],
        /// The most bytes of `READDIR3resok`.
        pub count: u32,
    }
}

/// One name (`entry3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Number of the node within its file system.
    pub file: u64,
    /// The name.
    pub name: &'a [u8],
    /// Goes on after this entry.
    pub cookie: u64,
}

/// Answer of a READDIR that went well (`READDIR3resok`).
pub type Success<'a> = listing::EntryList<'a, Entry<'a>>;

/// Answer of a READDIR (`READDIR3res`).
pub type Reply<'a> = Result<Success<'a>, Refused<Option<Attributes>>>;

impl<'a> Decode<'a> for Entry<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            file: decoder.u64("file id")?,
            name: decoder.opaque(NAME_MAX, "file name")?,
            cookie: decoder.u64("cookie")?,
        })
    }
}

impl Encode for Entry<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.file);
        encoder.opaque(self.name);
        encoder.u64(self.cookie);
    }
}

impl listing::ListEntry for Entry<'_> {
    fn name_size(&self) -> usize {
        8 + 4 + self.name.len().next_multiple_of(4) + 8
    }
}
