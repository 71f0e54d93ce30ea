//! What a layer that writes names behind holds and did.

use std::time::Duration;

use howdah_store::journal::JournalCounts;

/// What waits for the server, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BehindReport {
    /// Changes that are not on the server.
    pub waiting: u64,
    /// Bytes of data that they hold.
    pub waiting_bytes: u64,
    /// How long ago the oldest of them was made.
    pub oldest: Option<Duration>,
    /// Changes that were never sent, since later ones made them needless.
    pub joined: u64,
    /// Changes that the server refused.
    pub refused: u64,
    /// Files that were made under another name, since another host had made one of theirs.
    pub conflicts: u64,
    /// Directories in which changes wait for the server, since one was refused.
    pub careful: u64,
    /// How long the server has not answered, while it should.
    pub silent: Option<Duration>,
    /// Changes wait for the server, since the journal failed.
    pub is_synchronous: bool,
    /// The journal, if there is one.
    pub journal: Option<JournalCounts>,
}
