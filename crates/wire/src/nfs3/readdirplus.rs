//! READDIRPLUS (RFC 1813 3.3.17): the nodes in a directory, with handles and attributes. A server writes the reply
//! with `listing::Writer`.

use super::{Attributes, FileHandle, Refused, listing, message::message, readdir};

/// Number of the procedure.
pub const PROCEDURE: u32 = 17;

message! {
    /// Arguments of READDIRPLUS (`READDIRPLUS3args`).
    pub struct Arguments<'a> {
        /// The directory.
        pub directory: FileHandle<'a>,
        /// The entry after which to go on; 0 for the start.
        pub cookie: u64,
        /// What the server gave with that cookie; zero for the start.
        pub verifier: [u8; 8],
        /// The most bytes of names, file numbers and cookies.
        pub name_count: u32,
        /// The most bytes of `READDIRPLUS3resok`.
        pub count: u32,
    }
}

message! {
    /// One node (`entryplus3`).
    pub struct Entry<'a> {
        /// Its name, with file number and cookie.
        pub name: readdir::Entry<'a>,
        /// Its attributes (`name_attributes`).
        pub attributes: Option<Attributes>,
        /// Its handle (`name_handle`).
        pub node: Option<FileHandle<'a>>,
    }
}

/// Answer of a READDIRPLUS that went well (`READDIRPLUS3resok`).
pub type Success<'a> = listing::EntryList<'a, Entry<'a>>;

/// Answer of a READDIRPLUS (`READDIRPLUS3res`).
pub type Reply<'a> = Result<Success<'a>, Refused<Option<Attributes>>>;

impl listing::ListEntry for Entry<'_> {
    fn name_size(&self) -> usize {
        self.name.name_size()
    }
}
