//! READDIR (RFC 8881 18.23): the names in the current directory, with attributes. A server writes the result entry by entry
//! with
//! [`EntryWriter`] within an exact number of bytes; nothing is allocated per entry, in either direction.

use std::ops::ControlFlow;

use super::attributes::Values;
use super::{Bitmap, Name, Verifier};
use crate::message::message;
use crate::xdr::{Encode, Encoder, Entries};

/// Number of the operation.
pub const OPERATION: u32 = 26;

/// The bytes that end a list: no further entry, and whether that was the end of the directory.
const TAIL: usize = 4 + 4;

message! {
    /// Arguments of READDIR (`READDIR4args`).
    pub struct Arguments {
        /// The entry after which to go on; 0 for the start. Servers never give out 1 and 2.
        pub cookie: u64,
        /// What the server gave with that cookie; zero for the start.
        pub verifier: Verifier,
        /// The most bytes of names and cookies (`dircount`): a hint, and 0 for none.
        pub name_count: u32,
        /// The most bytes of `READDIR4resok` (`maxcount`).
        pub count: u32,
        /// The attributes asked for.
        pub wanted: Bitmap,
    }
}

message! {
    /// One name (`entry4`).
    pub struct Entry<'a> {
        /// Goes on after this entry.
        pub cookie: u64,
        /// The name.
        pub name: Name<'a>,
        /// Attributes of its node.
        pub attributes: Values<'a>,
    }
}

message! {
    /// Result of a READDIR that went well (`READDIR4resok`).
    pub struct Success<'a> {
        /// To be given back with a cookie.
        pub verifier: Verifier,
        /// The entries.
        pub entries: Entries<'a, Entry<'a>>,
        /// Whether the last of them is the last of the directory.
        pub end: bool,
    }
}

/// How much may go into a result, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Of the whole of `READDIR4resok`.
    pub whole: usize,
    /// Of names and cookies. The first entry is written even so: this is a hint, and a client that hints too little must still
    /// get on.
    pub names: usize,
}

/// Writes what the result of a READDIR that goes well holds.
#[derive(Debug)]
pub struct EntryWriter<'b> {
    output: &'b mut Vec<u8>,
    /// Where the verifier stands.
    start: usize,
    budget: Budget,
    names: usize,
    entries: usize,
}

impl<'b> EntryWriter<'b> {
    /// Starts at the end of `output`.
    pub fn new(output: &'b mut Vec<u8>, verifier: Verifier, budget: Budget) -> Self {
        let start = output.len();
        verifier.encode(&mut Encoder::new(output));
        Self { output, start, budget, names: 0, entries: 0 }
    }

    /// Appends an entry, whose attributes `attributes` writes (`fattr4`). Breaks, and appends nothing, if the result
    /// would become
    /// too long.
    pub fn add(
        &mut self,
        cookie: u64,
        name: Name<'_>,
        attributes: impl FnOnce(&mut Encoder<'_>),
    ) -> ControlFlow<()> {
        let before = self.output.len();
        let mut encoder = Encoder::new(self.output);
        encoder.bool(true);
        encoder.u64(cookie);
        name.encode(&mut encoder);
        let names = self.names + encoder.output().len() - before - 4;
        attributes(&mut encoder);
        let whole = self.output.len() + TAIL - self.start;
        if whole > self.budget.whole || (self.entries > 0 && names > self.budget.names) {
            self.output.truncate(before);
            return ControlFlow::Break(());
        }
        self.names = names;
        self.entries += 1;
        ControlFlow::Continue(())
    }

    /// Whether no entry was written.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Ends the result.
    pub fn finish(self, end: bool) {
        let mut encoder = Encoder::new(self.output);
        encoder.bool(false);
        encoder.bool(end);
    }

    /// Takes back everything written, for a refusal to be written instead.
    pub fn abandon(self) {
        self.output.truncate(self.start);
    }
}
