//! A file that is being copied, perhaps by many workers at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_vfs::{Attributes, Node};
use parking_lot::Mutex;

use super::journal_file::JournalFile;
use super::ledger::Ledger;
use super::outbox::Outbox;
use super::server_refusals::ServerRefusals;
use super::tasks::Entry;

/// A file that is being copied.
pub(super) struct FileJob {
    pub(super) entry: Entry,
    /// The source as it was at the start.
    pub(super) node: Node,
    /// Where the data goes until it is complete.
    pub(super) partial: Node,
    pub(super) partial_name: Vec<u8>,
    /// For files worth remembering.
    pub(super) journal: Option<Mutex<JournalFile>>,
    pub(super) ledger: Mutex<Ledger>,
    /// Where the destination takes the writes of a file one after the other.
    pub(super) outbox: Option<Outbox>,
    /// Whether zeros become holes.
    pub(super) sparse: bool,
    /// Whether an earlier copy goes on.
    pub(super) resumed: bool,
    /// Whether it has more than one block.
    pub(super) is_large: bool,
    /// Whether the source was seen to have grown.
    pub(super) grown: AtomicBool,
    /// Whether the blocks are read back, all being written.
    pub(super) verifying: AtomicBool,
    /// The attributes of the partial file, if they are set already.
    pub(super) attributes_set: Mutex<Option<Option<Attributes>>>,
    /// Whether the partial name was still its own when the last commit was under way.
    pub(super) partial_seen: Mutex<Option<PartialSeen>>,
    /// What the server refused to do with it.
    pub(super) refused: ServerRefusals,
    /// Whether it was given up.
    pub(super) failed: AtomicBool,
    pub(super) last_commit: Mutex<Instant>,
    /// Bytes committed since this copy began.
    pub(super) committed_here: AtomicU64,
}

/// How often a file that changes while it is copied is begun.
pub(super) const MOST_TRIES: u32 = 2;

/// A look-up of a partial file while its last commit was under way.
pub(super) struct PartialSeen {
    pub(super) asked: Instant,
    pub(super) took: Duration,
    pub(super) is_ours: bool,
}

impl PartialSeen {
    /// Whether it is as young as the answer to a look-up from now would be, or nearly so.
    pub(super) fn is_fresh(&self) -> bool {
        self.asked.elapsed() <= self.took * 2
    }
}

impl FileJob {
    /// Whether what is copied still stands in the source, by its attributes now. A file that grew has its old data still, most likely,
    /// which is read back; a small one is begun once more before that.
    pub(super) fn is_still_copied(&self, now: &Attributes) -> bool {
        let before = &self.node.attributes;
        if (before.size, before.modified) == (now.size, now.modified) {
            return true;
        }
        let accepts_growth = self.is_large || self.entry.tries + 1 >= MOST_TRIES;
        let has_grown = accepts_growth && now.size > before.size;
        self.grown.fetch_or(has_grown, Ordering::Relaxed);
        has_grown
    }

    /// Whether the source grew since its copy began.
    pub(super) fn has_grown(&self) -> bool {
        self.grown.load(Ordering::Relaxed)
    }

    pub(super) fn size(&self) -> u64 {
        self.node.attributes.size
    }
}
