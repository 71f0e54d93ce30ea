//! A record of calls (`docs/protocols/capture.md`): the format of its lines, and what a call and its reply say for them.
//! The server writes records, the lab plays them again. It does not know who reads or writes the file.

mod arguments;
mod compound;
mod format;
mod pseudonyms;
mod result;

pub use arguments::CallReader;
pub use compound::{CompoundBytes, entries_listed, read_compound};
pub use format::{Call, End, Header, How, Kind, Names, Stability, VERSION, Why};
pub use pseudonyms::Pseudonyms;
pub use result::read_result;
