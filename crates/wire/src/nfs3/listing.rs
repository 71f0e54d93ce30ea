//! The list in a reply of READDIR or READDIRPLUS: written entry by entry into the reply's buffer within an exact
//! number of bytes, and read back one entry at a time. Nothing is allocated per entry, in either direction.

use std::ops::ControlFlow;

use super::{Attributes, status};
pub use crate::xdr::Entries;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// The bytes that end a list: no further entry, and whether that was the end of the directory.
const TAIL: usize = 4 + 4;
/// The bytes of the directory's attributes with the flag before them.
const ATTRIBUTES: usize = 4 + Attributes::SIZE;

/// An entry of a list.
pub trait ListEntry: Encode {
    /// The bytes that count towards `dircount` (RFC 1813 3.3.17): file number, name and cookie, as XDR.
    fn name_size(&self) -> usize;
}

/// How much may go into a reply, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Of the whole of `READDIR3resok` or `READDIRPLUS3resok`.
    pub whole: usize,
    /// Of file numbers, names and cookies. The first entry is written even so: this is a hint, and a client that
    /// hints too little must still get on.
    pub names: usize,
}

/// Writes a reply that goes well.
#[derive(Debug)]
pub struct Writer<'b> {
    output: &'b mut Vec<u8>,
    /// Where the status stands.
    start: usize,
    budget: Budget,
    names: usize,
    entries: usize,
}

impl<'b> Writer<'b> {
    /// Starts a reply at the end of `output`. Room is left for the directory's attributes, which are best taken
    /// after the entries.
    pub fn new(output: &'b mut Vec<u8>, verifier: [u8; 8], budget: Budget) -> Self {
        let start = output.len();
        output.extend_from_slice(&status::OK.to_be_bytes());
        output.extend_from_slice(&[0; ATTRIBUTES]);
        output.extend_from_slice(&verifier);
        Self { output, start, budget, names: 0, entries: 0 }
    }

    /// Appends an entry; breaks, and appends nothing, if the reply would become too long.
    pub fn add(&mut self, entry: &impl ListEntry) -> ControlFlow<()> {
        let before = self.output.len();
        let names = self.names + entry.name_size();
        let mut encoder = Encoder::new(self.output);
        encoder.bool(true);
        entry.encode(&mut encoder);
        let whole = self.output.len() + TAIL - self.start - 4;
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

    /// Ends the reply.
    pub fn finish(self, directory: Option<Attributes>, end: bool) {
        let mut encoder = Encoder::new(self.output);
        encoder.bool(false);
        encoder.bool(end);
        let place = self.start + 4..self.start + 4 + ATTRIBUTES;
        match directory {
            Some(attributes) => {
                let place = &mut self.output[place];
                place[..4].copy_from_slice(&1_u32.to_be_bytes());
                place[4..].copy_from_slice(&attributes.to_bytes());
            }
            // The flag stays, and says no.
            None => drop(self.output.drain(place.start + 4..place.end)),
        }
    }

    /// Takes back everything written, for a refusal to be written instead.
    pub fn abandon(self) {
        self.output.truncate(self.start);
    }
}

/// Answer of a READDIR or READDIRPLUS that went well (`READDIR3resok`, `READDIRPLUS3resok`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryList<'a, E> {
    /// The directory's attributes.
    pub directory: Option<Attributes>,
    /// To be given back with a cookie.
    pub verifier: [u8; 8],
    /// The entries.
    pub entries: Entries<'a, E>,
    /// Whether the last of them is the last of the directory.
    pub end: bool,
}

impl<'a, E: Decode<'a>> Decode<'a> for EntryList<'a, E> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let directory = Option::decode(decoder)?;
        let verifier = decoder.fixed("cookie verifier")?;
        let entries = Entries::decode(decoder)?;
        Ok(Self { directory, verifier, entries, end: decoder.bool("end of directory")? })
    }
}

impl<E> Encode for EntryList<'_, E> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.directory.encode(encoder);
        encoder.fixed(&self.verifier);
        self.entries.encode(encoder);
        encoder.bool(self.end);
    }
}
