//! What bounds a capture: named, with reasons. What an outsider can push against stands in `crate::limits`.

pub use crate::limits::{CAPTURE_ANSWER_MAX, CAPTURE_CLIENTS_MAX, CAPTURE_PATIENCE, CAPTURE_WAITING_MAX};
use howdah_capture::Names;

/// Bytes of a call's arguments that are kept: two handles and two names of 255 bytes each are 656. Of the data of a WRITE, and
/// the target of a symbolic link, which come after what is read of them, the beginning may be among them: it is never written.
pub const ARGUMENTS_MOST: usize = 1024;
/// The same of the end of a compound: two names and what is set of a file, behind its data.
pub const ARGUMENTS_END_MOST: usize = 768;
/// Bytes of a result that are kept: what comes first has all that is read of it.
pub const RESULT_MOST: usize = 256;
/// The same of a compound: attributes come last, behind two handles and what OPEN answers.
pub const COMPOUND_RESULT_MOST: usize = 1024;
/// How long a capture lasts unless it is said.
pub const SECONDS: f64 = 60.0;
/// How long it may last: a day is a pattern, more is a log.
pub const SECONDS_MOST: f64 = 86_400.0;
/// How many calls it takes unless it is said: some 220 MB of file.
pub const CALLS: u64 = 1_000_000;
/// How many it may take.
pub const CALLS_MOST: u64 = 100_000_000;

/// How much is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// It ends after so long.
    pub seconds: f64,
    /// It ends after so many calls.
    pub calls: u64,
    /// How names are written.
    pub names: Names,
}
