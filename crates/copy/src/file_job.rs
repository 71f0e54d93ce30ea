//! A file that is being copied, perhaps by many workers at once, and the account of its data: what was written, what of it is
//! committed, and what the journal remembers.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_vfs::{Attributes, Node};
use parking_lot::Mutex;

use super::context::Context;
use super::error::{Doing, Step};
use super::journal_file::JournalFile;
use super::ledger::{Batch, How, Ledger};
use super::outbox::Outbox;
use super::ranges::RangeSet;
use super::server_refusals::ServerRefusals;
use super::tally::add;
use super::tasks::Entry;
use super::{Event, Sparse};

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
    is_large: bool,
    /// Whether the source was seen to have grown.
    grown: AtomicBool,
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
    last_commit: Mutex<Instant>,
    /// Bytes committed since this copy began.
    committed_here: AtomicU64,
}

/// How often a file that changes while it is copied is begun.
pub(super) const MOST_TRIES: u32 = 2;

/// How often a file that is gone is looked up again: something else may have its name by now.
pub(super) const MOST_LOOKS: u32 = 4;

/// A look-up of a partial file while its last commit was under way.
pub(super) struct PartialSeen {
    asked: Instant,
    took: Duration,
    is_ours: bool,
}

impl PartialSeen {
    /// Looks now; nothing if that failed.
    pub(super) fn by<E>(look: impl FnOnce() -> Result<bool, E>) -> Option<Self> {
        let asked = Instant::now();
        let is_ours = look().ok()?;
        Some(Self { asked, took: asked.elapsed(), is_ours })
    }

    /// What was seen, if it is as young as the answer to a look-up from now would be, or nearly so.
    pub(super) fn if_fresh(self) -> Option<bool> {
        (self.asked.elapsed() <= self.took * 2).then_some(self.is_ours)
    }
}

/// Where the data of a new copy goes, and what of it is there.
pub(super) struct Opened {
    partial: Node,
    partial_name: Vec<u8>,
    journal: Option<JournalFile>,
    committed: RangeSet,
    resumed: bool,
}

impl Opened {
    /// Nothing of it is there yet.
    pub(super) fn empty(partial: Node, partial_name: Vec<u8>, journal: Option<JournalFile>) -> Self {
        Self { partial, partial_name, journal, committed: RangeSet::default(), resumed: false }
    }

    /// A job that resumes an earlier copy, behind the bytes that are committed.
    pub(super) fn resumed(
        (partial, partial_name): (Node, Vec<u8>),
        journal: JournalFile,
        committed: RangeSet,
    ) -> Self {
        Self { partial, partial_name, journal: Some(journal), committed, resumed: true }
    }
}

impl FileJob {
    /// Begins with what was opened.
    pub(super) fn new(context: &Context, entry: Entry, node: Node, opened: Opened) -> Self {
        let attributes = &node.attributes;
        let sparse = is_sparse(context, attributes);
        // A file of one block has one writer anyway.
        let one_writer = entry.parent.item.one_writer && attributes.size > context.block as u64;
        Self {
            partial_name: opened.partial_name,
            partial: opened.partial,
            journal: opened.journal.map(Mutex::new),
            ledger: Mutex::new(Ledger::new(attributes.size, opened.committed)),
            outbox: one_writer.then(Outbox::default),
            sparse,
            resumed: opened.resumed,
            is_large: attributes.size > context.block as u64,
            grown: AtomicBool::new(false),
            verifying: AtomicBool::new(false),
            attributes_set: Mutex::default(),
            partial_seen: Mutex::default(),
            refused: ServerRefusals::default(),
            failed: AtomicBool::new(false),
            last_commit: Mutex::new(Instant::now()),
            committed_here: AtomicU64::new(0),
            entry,
            node,
        }
    }

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

/// Whether zeros of a file become holes.
pub(super) fn is_sparse(context: &Context, source: &Attributes) -> bool {
    match context.options.sparse {
        Sparse::Auto => source.used < source.size,
        Sparse::Always => true,
        Sparse::Never => false,
    }
}

/// What of a block was written, and how.
pub(super) type Parts = Vec<(Range<u64>, How)>;

/// Keeps account of a block that is written.
pub(super) fn on_written(context: &Context, job: &FileJob, block: &Range<u64>, parts: Parts) {
    let length = block.end - block.start;
    let written: u64 = parts.iter().map(|(part, _)| part.end - part.start).sum();
    add(&context.tally.copied_bytes, length);
    add(&context.tally.hole_bytes, length - written);
    job.committed_here.fetch_add(length, Ordering::Relaxed);
    job.ledger.lock().written(block.clone(), parts);
}

/// Whether so much, or so long, was written without a commit that an interruption would hurt.
pub(super) fn wants_commit(context: &Context, job: &FileJob) -> bool {
    if job.journal.is_none() || job.verifying.load(Ordering::Relaxed) {
        return false;
    }
    let tuning = &context.options.tuning;
    let (least, most) = tuning.commit_bytes;
    let (unsettled, has_more) = {
        let ledger = job.ledger.lock();
        (ledger.unsettled(), ledger.has_more())
    };
    let worth = (job.committed_here.load(Ordering::Relaxed) / 4).clamp(least, most);
    // Where only the last blocks are on their way, the last commit will cover all.
    (has_more && unsettled >= worth)
        || (unsettled > 0 && job.last_commit.lock().elapsed() >= tuning.commit_interval)
}

/// Makes durable what was written, and records it. What the server lost meanwhile is put back to be sent again.
pub(super) fn commit(context: &Context, job: &FileJob) -> Step<()> {
    let Some(batch) = job.ledger.lock().begin_commit() else { return Ok(()) };
    *job.last_commit.lock() = Instant::now();
    let committed = commit_batch(context, job, batch).and_then(|()| {
        // What is complete gets its name next, and needs no record.
        let is_complete = job.ledger.lock().is_complete();
        if is_complete { Ok(()) } else { record(context, job) }
    });
    let mut ledger = job.ledger.lock();
    if committed.is_err() {
        // Nothing is known of what it was to cover: this copy is over.
        ledger.close();
    }
    ledger.commit_over();
    committed
}

fn commit_batch(context: &Context, job: &FileJob, batch: Batch) -> Step<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let verifier = context.destination.commit(&job.partial.handle).at_destination("commit")?;
    let lost = job.ledger.lock().end_commit(batch, verifier);
    if lost > 0 {
        add(&context.tally.resent_bytes, lost);
        context.tell(&Event::SentAgain { path: &job.entry.path(), bytes: lost });
    }
    Ok(())
}

/// Records what was committed.
pub(super) fn record(context: &Context, job: &FileJob) -> Step<()> {
    let Some(journal) = &job.journal else { return Ok(()) };
    let mut journal = journal.lock();
    let news = job.ledger.lock().take_news();
    match news.is_empty() {
        true => Ok(()),
        false => journal.record(&context.destination, &news).at_destination("write the journal of"),
    }
}
