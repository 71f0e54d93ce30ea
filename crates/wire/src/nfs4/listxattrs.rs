//! LISTXATTRS (RFC 8276 8.4.3): the names of the current node's extended attributes. A server writes the result with
//! [`NameWriter`].

use std::ops::ControlFlow;

use super::Name;
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::xdr::{Array, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 74;

/// The bytes before the names: the cookie and their number.
const HEAD: usize = 8 + 4;

/// The bytes of a result without names (`LISTXATTRS4resok`).
pub const EMPTY: usize = HEAD + 4;

message! {
    /// Arguments of LISTXATTRS (`LISTXATTRS4args`).
    pub struct Arguments {
        /// Where to go on; 0 for the start.
        pub cookie: u64,
        /// The most bytes of `LISTXATTRS4resok`.
        pub count: u32,
    }
}

message! {
    /// Result of a LISTXATTRS that went well (`LISTXATTRS4resok`).
    pub struct Success<'a> {
        /// Where to go on after these.
        pub cookie: u64,
        /// The names, without a namespace (`user.`).
        pub names: Array<'a, Name<'a>, ITEMS4_MAX>,
        /// Whether these are the last.
        pub end: bool,
    }
}

/// Writes what the result of a LISTXATTRS that goes well holds, within a number of bytes.
#[derive(Debug)]
pub struct NameWriter<'b> {
    output: &'b mut Vec<u8>,
    /// Where the cookie stands.
    start: usize,
    /// The most bytes of the whole.
    limit: usize,
    names: u32,
}

impl<'b> NameWriter<'b> {
    /// Starts at the end of `output`; the result is to have at most `limit` bytes.
    pub fn new(output: &'b mut Vec<u8>, limit: usize) -> Self {
        let start = output.len();
        output.extend_from_slice(&[0; HEAD]);
        Self { output, start, limit, names: 0 }
    }

    /// Appends a name. Breaks, and appends nothing, if the result would become too long or have too many.
    pub fn add(&mut self, name: Name<'_>) -> ControlFlow<()> {
        let before = self.output.len();
        name.encode(&mut Encoder::new(self.output));
        // What follows the names says whether they are the last.
        if self.output.len() + 4 - self.start > self.limit || self.names == ITEMS4_MAX {
            self.output.truncate(before);
            return ControlFlow::Break(());
        }
        self.names += 1;
        ControlFlow::Continue(())
    }

    /// How many names were written.
    pub fn count(&self) -> u32 {
        self.names
    }

    /// Ends the result; `cookie` goes on after the last name.
    pub fn finish(self, cookie: u64, end: bool) {
        self.output[self.start..self.start + 8].copy_from_slice(&cookie.to_be_bytes());
        self.output[self.start + 8..self.start + HEAD].copy_from_slice(&self.names.to_be_bytes());
        Encoder::new(self.output).bool(end);
    }
}
