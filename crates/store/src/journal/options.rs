//! How much room a journal may take, and how often it is synced.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What records refer to, and what must be durable before they are.
pub trait SyncFirst: Debug + Send + Sync {
    /// Makes durable all that records may refer to which were appended before this is called.
    ///
    /// # Errors
    /// It cannot: the journal fails.
    fn sync(&self) -> io::Result<()>;
}

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
    /// What is made durable before records are.
    pub sync_first: Option<Arc<dyn SyncFirst>>,
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
            sync_first: None,
        }
    }
}
