//! What an open journal knows: its segments, its live records, how much was appended and how much of that is on the disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::disk::JournalFile;
use super::error::JournalError;
use super::live_records::{LiveRecords, RecordPlace};
use super::segments::{NewRecord, Purpose, Segments};

/// Figures of a journal, for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalCounts {
    /// Bytes of all records that are on disk, finished ones among them.
    pub bytes: u64,
    /// The most that there may be.
    pub bytes_max: u64,
    /// Changes that are not finished.
    pub changes: u64,
    /// Bytes of their records.
    pub live_bytes: u64,
    /// How long the oldest record has waited to be synced. Zero if all are.
    pub unsynced: Duration,
    /// Syncs so far.
    pub syncs: u64,
    /// How long the last sync took.
    pub last_sync: Duration,
    /// Whether a disk error ended it.
    pub has_failed: bool,
}

/// Since when records wait for a sync.
#[derive(Debug, Default)]
struct Waiting {
    /// The oldest of those that are being synced.
    for_this_sync: Option<Instant>,
    /// The oldest of those that came later.
    for_the_next: Option<Instant>,
}

/// A sync that runs: what it covers.
pub(super) struct Flush {
    files: Vec<Arc<dyn JournalFile>>,
    position: u64,
    last_segment: u64,
    began: Instant,
}

impl Flush {
    /// Syncs the files.
    pub(super) fn run(&self) -> std::io::Result<()> {
        self.files.iter().try_for_each(|file| file.sync())
    }
}

/// What is behind the lock of a journal.
pub(super) struct State {
    segments: Segments,
    live: LiveRecords,
    /// Finished changes whose marks are not written.
    marks: Vec<u64>,
    /// Appends so far.
    written: u64,
    /// Those that are durable.
    synced: u64,
    waiting: Waiting,
    failure: Option<Arc<str>>,
    is_flushing: bool,
    syncs: u64,
    last_sync: Duration,
    bound: u64,
    is_urgent: bool,
    is_stopping: bool,
}

impl State {
    pub(super) fn new(segments: Segments, live: LiveRecords, bound: u64) -> Self {
        Self {
            segments,
            live,
            marks: Vec::new(),
            written: 0,
            synced: 0,
            waiting: Waiting::default(),
            failure: None,
            is_flushing: false,
            syncs: 0,
            last_sync: Duration::ZERO,
            bound,
            is_urgent: true,
            is_stopping: false,
        }
    }

    /// Whether there is something to do before the next sync is due.
    pub(super) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    pub(super) fn set_urgent(&mut self, is_urgent: bool) {
        self.is_urgent = is_urgent;
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
    }

    /// Appends records. Gives the position.
    pub(super) fn append(&mut self, records: &[NewRecord<'_>]) -> Result<u64, JournalError> {
        if !self.marks.is_empty() {
            self.write_marks()?;
        }
        // One more mark must always fit into the segment that is kept for them.
        if self.live.changes() + records.len() > self.segments.marks_max() {
            return Err(JournalError::Full);
        }
        let places = self.write(records, Purpose::Records)?;
        for (record, place) in records.iter().zip(places) {
            self.live.add(record.change(), place);
        }
        Ok(self.written)
    }

    /// These changes need no record any more. Gives the position of their marks.
    pub(super) fn finish(&mut self, changes: &[u64]) -> Result<u64, JournalError> {
        for change in changes {
            if self.live.finish(*change) {
                self.marks.push(*change);
            }
        }
        self.is_urgent |= self.dead_up_to().is_some();
        if self.failure.is_some() && self.live.changes() == 0 {
            // Nothing of it is needed, and nothing of it should come back.
            self.segments.remove_all();
        }
        self.write_marks()
    }

    /// Writes the marks that could not be written before.
    pub(super) fn write_marks(&mut self) -> Result<u64, JournalError> {
        self.check()?;
        if !self.marks.is_empty() {
            let marks = std::mem::take(&mut self.marks);
            let records: Vec<_> = marks.iter().map(|change| NewRecord::mark(*change)).collect();
            if let Err(error) = self.write(&records, Purpose::Marks) {
                self.marks = marks;
                return Err(error);
            }
        }
        Ok(self.written)
    }

    fn write(
        &mut self,
        records: &[NewRecord<'_>],
        purpose: Purpose,
    ) -> Result<Vec<RecordPlace>, JournalError> {
        self.check()?;
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let outcome = self.segments.append(records, purpose);
        match &outcome {
            Ok(_) => {
                self.written += 1;
                self.waiting.for_the_next.get_or_insert_with(Instant::now);
            }
            Err(JournalError::Full) => self.is_urgent = true,
            Err(error) => self.note(error),
        }
        outcome
    }

    /// The records of a change, read from the disk: kinds and payloads.
    pub(super) fn read(&mut self, change: u64) -> Result<Vec<(u8, Vec<u8>)>, JournalError> {
        let outcome = self.segments.read(self.live.of(change));
        outcome
            .inspect_err(|error| self.note(error))
            .map(|records| records.into_iter().map(|(head, payload)| (head.kind, payload)).collect())
    }

    /// A disk error ends the journal.
    pub(super) fn note(&mut self, error: &JournalError) {
        if matches!(error, JournalError::Disk { .. }) {
            self.failure.get_or_insert_with(|| error.to_string().into());
        }
    }

    /// Fails if the journal has failed.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        self.failure.as_ref().map_or(Ok(()), |cause| Err(JournalError::Failed(Arc::clone(cause))))
    }

    /// Whether all up to a position is durable; an error if it never will be.
    pub(super) fn is_synced(&self, position: u64) -> Result<bool, JournalError> {
        if self.synced >= position {
            return Ok(true);
        }
        self.check().map(|()| false)
    }

    /// Whether all that was appended is durable.
    pub(super) fn is_clean(&self) -> bool {
        self.synced == self.written
    }

    /// That of the last append.
    pub(super) fn position(&self) -> u64 {
        self.written
    }

    pub(super) fn is_flushing(&self) -> bool {
        self.is_flushing
    }

    /// Begins a sync of all that was appended so far.
    pub(super) fn begin_flush(&mut self) -> Flush {
        let (files, last_segment) = self.segments.unsynced();
        self.is_flushing = true;
        self.waiting.for_this_sync = self.waiting.for_the_next.take();
        Flush { files, position: self.written, last_segment, began: Instant::now() }
    }

    /// It ended. Gives the position that is durable now.
    pub(super) fn end_flush(&mut self, flush: &Flush, outcome: Result<(), JournalError>) -> u64 {
        self.is_flushing = false;
        self.syncs += 1;
        self.last_sync = flush.began.elapsed();
        // What the kernel could not write it may forget: it says so once, and the next sync succeeds. So nothing is believed after that.
        match outcome.and_then(|()| self.check()) {
            Ok(()) => {
                self.waiting.for_this_sync = None;
                self.synced = flush.position;
                self.segments.synced(flush.last_segment);
            }
            Err(error) => drop(self.failure.get_or_insert_with(|| error.to_string().into())),
        }
        self.synced
    }

    /// When a sync is due.
    pub(super) fn sync_due(&self, every: Duration) -> Option<Instant> {
        self.waiting.for_the_next.filter(|_| self.failure.is_none()).map(|since| since + every)
    }

    /// The last segment up to which none holds what is needed. Records go to the newest, which is never among them.
    pub(super) fn dead_up_to(&self) -> Option<u64> {
        let older = self.segments.count().saturating_sub(1);
        let dead = self.segments.numbers().take(older).take_while(|number| !self.live.any_within(*number));
        // Until its mark is written, a change that is finished would come back in part.
        dead.last().filter(|_| self.marks.is_empty())
    }

    /// Takes the oldest segment out if it is not younger than this one; its file is to be removed.
    pub(super) fn take_oldest(&mut self, up_to: u64) -> Option<String> {
        self.segments.take_oldest(up_to)
    }

    /// Makes the next segment ready. A full disk is no error: the next append that needs it says so.
    pub(super) fn prepare(&mut self) -> Result<(), JournalError> {
        match self.segments.prepare() {
            Err(JournalError::NoSpace) | Ok(()) => Ok(()),
            Err(error) => {
                self.note(&error);
                Err(error)
            }
        }
    }

    /// The oldest segment and its live records, if writing them again makes room: the journal is half full, and at least half of it is
    /// not needed.
    pub(super) fn to_move(&self) -> Vec<(u64, u64)> {
        let oldest = self.segments.numbers().next();
        let pays = self.segments.is_half_full() && self.live.bytes() * 2 <= self.segments.bytes();
        let Some(oldest) = oldest.filter(|_| pays && self.segments.count() > 1) else { return Vec::new() };
        self.live.within(oldest).into_iter().map(|(change, place)| (change, place.sequence)).collect()
    }

    /// Writes a record again at the end, if it is still needed.
    pub(super) fn relocate(&mut self, change: u64, sequence: u64) -> Result<(), JournalError> {
        let found = self.live.of(change).iter().find(|place| place.sequence == sequence).copied();
        let Some(from) = found else { return Ok(()) };
        let read = self.segments.read(&[from]);
        let records = read.inspect_err(|error| self.note(error))?;
        for (head, payload) in &records {
            let record = NewRecord::new(head.kind, change, payload).moved(sequence);
            let places = self.write(&[record], Purpose::Moves)?;
            places.into_iter().for_each(|to| self.live.relocate(change, from, to));
        }
        Ok(())
    }

    /// Whether another segment may be begun for new records.
    pub(super) fn has_room(&self) -> bool {
        self.segments.may_advance() && self.live.changes() < self.segments.marks_max()
    }

    pub(super) fn counts(&self) -> JournalCounts {
        let since = self.waiting.for_this_sync.or(self.waiting.for_the_next);
        JournalCounts {
            bytes: self.segments.bytes(),
            bytes_max: self.bound,
            changes: self.live.changes() as u64,
            live_bytes: self.live.bytes(),
            unsynced: since.map_or(Duration::ZERO, |since| since.elapsed()),
            syncs: self.syncs,
            last_sync: self.last_sync,
            has_failed: self.failure.is_some(),
        }
    }
}
