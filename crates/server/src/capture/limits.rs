//! What bounds a capture: named, with reasons.

use std::time::Duration;

use super::format::Names;

/// Calls that wait to be read out at most, some 400 bytes each: who asks each twentieth of a second keeps up with 300,000 calls a
/// second. What comes while so many wait is dropped and counted.
pub const WAITING_MOST: usize = 16 << 10;
/// Calls in one answer at most: some 2 MB of JSON.
pub const ANSWER_MOST: usize = 8 << 10;
/// Bytes of a call's arguments that are kept: two handles and two names of 255 bytes each are 656. The data of a WRITE, and the target of
/// a symbolic link, come after what is read of them.
pub const ARGUMENTS_MOST: usize = 1024;
/// Bytes of a result that are kept: what comes first tells all that is read of it.
pub const RESULT_MOST: usize = 256;
/// Connections and clients that are told apart; those beyond are all called 0.
pub const CLIENTS_MOST: usize = 64 << 10;
/// A capture that nobody asked for its calls for so long ends, and what it holds is forgotten: who began it was killed.
pub const PATIENCE: Duration = Duration::from_secs(15);
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
    /// How names are told.
    pub names: Names,
}
