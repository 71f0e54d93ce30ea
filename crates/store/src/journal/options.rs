//! How much room a journal may take, and how often it is synced.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of a journal.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// The most bytes that its segments take on disk. At least [`Self::SEGMENTS_MIN`] segments.
    pub bound: u64,
    /// Bytes of a segment, which are allocated when it is made. An append is shorter than a segment.
    pub segment: u64,
    /// How long a record may wait until it is on the disk: a thread syncs. `None`: there is no thread, and the caller calls
    /// [`super::DiskJournal::upkeep`].
    pub sync_every: Option<Duration>,
    /// Take over a journal that another host wrote.
    pub adopt: bool,
    /// Where to keep the count of unfinished changes, best on another disk: if the journal is lost, the next one can say so.
    pub count_file: Option<PathBuf>,
}

impl JournalOptions {
    /// Fewer segments leave no room to move records in.
    pub const SEGMENTS_MIN: u64 = 4;

    /// How many segments there may be, the one that is kept ready among them.
    pub(super) fn segments_max(&self) -> usize {
        usize::try_from((self.bound / self.segment.max(1)).max(Self::SEGMENTS_MIN)).unwrap_or(usize::MAX)
    }
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            bound: 1 << 30,
            segment: 32 << 20,
            sync_every: Some(Duration::from_millis(100)),
            adopt: false,
            count_file: None,
        }
    }
}
