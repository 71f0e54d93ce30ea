//! The segments of an open journal: appends at the end, takes away at the front, and keeps one more ready than it needs.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

use rustix::rand::{GetRandomFlags, getrandom};

use super::disk::{JournalDisk, JournalFile};
use super::error::JournalError;
use super::format::{
    Chain, FINISHED, HEADER, LAST, OVERHEAD, RecordHead, SUM, Scan, SegmentHeader, record_length,
};
use super::live_records::RecordPlace;

/// The folder of what was set aside and refused, below the journal.
pub(super) const REFUSED: &str = "refused/";
/// What names of segments end with.
const SUFFIX: &str = ".journal";

/// A segment.
struct Segment {
    number: u64,
    file: Arc<dyn JournalFile>,
    /// Where the next record goes; 0 while it has no header.
    end: u64,
    /// Its length.
    capacity: u64,
    /// What its checksums are made with.
    key: [u8; 16],
}

/// What is to be appended.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewRecord<'a> {
    kind: u8,
    /// [`FINISHED`], or nothing.
    flags: u8,
    change: u64,
    /// That of a record that is moved; another one gets the next.
    sequence: Option<u64>,
    payload: &'a [u8],
}

impl<'a> NewRecord<'a> {
    /// A record of the caller.
    pub(super) fn new(kind: u8, change: u64, payload: &'a [u8]) -> Self {
        Self { kind, flags: 0, change, sequence: None, payload }
    }

    /// The mark of a finished change.
    pub(super) fn mark(change: u64) -> Self {
        Self { flags: FINISHED, ..Self::new(0, change, &[]) }
    }

    /// The same, moved.
    pub(super) fn moved(self, sequence: u64) -> Self {
        Self { sequence: Some(sequence), ..self }
    }

    pub(super) fn change(&self) -> u64 {
        self.change
    }
}

/// What the records are, which decides how much room they leave for others. All but marks leave a segment that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// New ones of the caller.
    Records,
    /// Records that are moved.
    Moves,
    /// Marks of finished changes, which make room: they have a segment that nothing else is written to while there is no other.
    Marks,
}

impl Purpose {
    /// Segments below the bound that are not for it.
    fn left(self) -> usize {
        match self {
            Self::Records => 2,
            Self::Moves => 1,
            Self::Marks => 0,
        }
    }
}

/// All segments.
pub(super) struct Segments {
    disk: Arc<dyn JournalDisk>,
    /// Bytes of a new one.
    size: u64,
    /// How many there may be.
    most: usize,
    found: FoundSegments,
    /// The first segment that may hold what is not synced.
    unsynced: u64,
}

/// What was found on disk, and what was appended since.
#[derive(Default)]
pub(super) struct FoundSegments {
    /// Those in use, oldest first. Records go to the last one.
    used: VecDeque<Segment>,
    /// The next one, empty and durable.
    ready: Option<Segment>,
    chain: Chain,
    /// That of the last record.
    sequence: u64,
    /// The highest that was seen.
    highest_change: u64,
}

impl FoundSegments {
    pub(super) fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// The number of the next segment.
    pub(super) fn next_number(&self) -> u64 {
        self.used.back().map_or(1, |last| last.number + 1)
    }

    /// Whether a segment continues those before. Older ones may be gone, so the first one continues anything.
    pub(super) fn are_continued_by(&self, header: &SegmentHeader) -> bool {
        self.is_empty() || header.number == self.next_number() && self.chain.is_continued_by(header)
    }

    /// Adds the next segment, of so many bytes.
    pub(super) fn add(&mut self, scan: &Scan<'_>, file: Arc<dyn JournalFile>, capacity: u64) {
        let SegmentHeader { number, key, highest_change, .. } = scan.header;
        let heads = || scan.records.iter().map(|record| record.head);
        self.chain = scan.chain;
        self.sequence = heads().map(|head| head.sequence).fold(self.sequence, u64::max);
        let highest_change = self.highest_change.max(highest_change);
        self.highest_change = heads().map(|head| head.change).fold(highest_change, u64::max);
        self.used.push_back(Segment { number, file, end: scan.end as u64, capacity, key });
    }

    /// An empty segment becomes the next one.
    pub(super) fn set_ready(&mut self, file: Arc<dyn JournalFile>, capacity: u64) {
        self.ready = Some(Segment { number: self.next_number(), file, end: 0, capacity, key: [0; 16] });
    }

    /// The last one's number, its file and where its records end.
    pub(super) fn last(&self) -> Option<(u64, &dyn JournalFile, u64)> {
        self.used.back().map(|last| (last.number, &*last.file, last.end))
    }

    /// Nothing is appended to the last one.
    pub(super) fn close_last(&mut self) {
        if let Some(last) = self.used.back_mut() {
            last.capacity = last.end;
        }
    }
}

/// The name of a segment.
pub(super) fn name(number: u64) -> String {
    format!("{number:010}{SUFFIX}")
}

/// The number of a segment that has this name.
pub(super) fn number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(SUFFIX)?.parse().ok()?;
    (self::name(number) == name).then_some(number)
}

/// Creates a segment, durable and empty.
fn create(disk: &dyn JournalDisk, number: u64, size: u64) -> Result<Segment, JournalError> {
    let name = name(number);
    let make = || {
        let file = disk.create(&name, size)?;
        file.sync().and_then(|()| disk.sync_names()).inspect_err(|_| drop(disk.remove(&name)))?;
        Ok(file)
    };
    let file = make().map_err(JournalError::disk("making", &disk.path(&name)))?;
    Ok(Segment { number, file, end: 0, capacity: size, key: [0; 16] })
}

impl Segments {
    /// Continues where the last record is.
    pub(super) fn new(disk: Arc<dyn JournalDisk>, size: u64, most: usize, found: FoundSegments) -> Self {
        let unsynced = found.used.back().map_or(0, |last| last.number);
        Self { disk, size, most, found, unsynced }
    }

    /// Makes the next segment ready, if none is.
    pub(super) fn prepare(&mut self) -> Result<(), JournalError> {
        if self.found.ready.is_none() && self.found.used.len() < self.most {
            self.found.ready = Some(create(&*self.disk, self.found.next_number(), self.size)?);
        }
        Ok(())
    }

    /// Appends records, all or none, in one write. Gives their places.
    pub(super) fn append(
        &mut self,
        records: &[NewRecord<'_>],
        purpose: Purpose,
    ) -> Result<Vec<RecordPlace>, JournalError> {
        let length: u64 = records.iter().map(|record| record_length(record.payload.len())).sum();
        let most = self.size.saturating_sub(HEADER as u64).min(u64::from(u32::MAX));
        if length > most {
            return Err(JournalError::TooLarge { length, most });
        }
        if !self.found.used.back().is_some_and(|last| last.has_room_for(length)) {
            self.advance(purpose)?;
        } else if purpose != Purpose::Marks {
            self.prepare()?;
            self.found.ready.as_ref().ok_or(JournalError::Full)?;
        }
        let last = self.found.used.back_mut().expect("there is one by now");
        let (header, key, mut chain) = match last.end {
            0 => {
                let mut key = [0; 16];
                let drawn = getrandom(&mut key, GetRandomFlags::empty());
                let path = self.disk.path(&name(last.number));
                drawn.map_err(|cause| JournalError::disk("drawing a key for", &path)(cause.into()))?;
                let header =
                    SegmentHeader::new(last.number, key, self.found.chain, self.found.highest_change);
                let (bytes, chain) = header.encode();
                (Some(bytes), key, chain)
            }
            _ => (None, last.key, self.found.chain),
        };
        let mut offset = last.end.max(HEADER as u64);
        let (mut places, mut sequence) = (Vec::with_capacity(records.len()), self.found.sequence);
        let mut sealed = Vec::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            let own = record.sequence.unwrap_or_else(|| {
                sequence += 1;
                sequence
            });
            let is_last = at + 1 == records.len();
            let head = RecordHead {
                length: record.payload.len() as u32,
                kind: record.kind,
                flags: record.flags | if is_last { LAST } else { 0 },
                sequence: own,
                change: record.change,
            };
            sealed.push(head.seal(record.payload, &mut chain));
            let length = record_length(record.payload.len());
            places.push(RecordPlace { segment: last.number, offset, length, sequence: own });
            offset += length;
        }
        let mut parts = Vec::with_capacity(1 + 3 * records.len());
        parts.extend(header.as_ref().map(|header| IoSlice::new(header)));
        for ((head, sum), record) in sealed.iter().zip(records) {
            parts.extend([IoSlice::new(head), IoSlice::new(record.payload), IoSlice::new(sum)]);
        }
        if let Err(cause) = last.file.write_at(last.end, &mut parts) {
            let error = JournalError::disk("writing to", &self.disk.path(&name(last.number)))(cause);
            if matches!(error, JournalError::NoSpace) {
                // The next one to read it should not take the half of it for damage.
                let zeros = vec![0; (offset - last.end) as usize];
                let _ = last.file.write_at(last.end, &mut [IoSlice::new(&zeros)]);
            }
            return Err(error);
        }
        (last.end, last.key) = (offset, key);
        (self.found.chain, self.found.sequence) = (chain, sequence);
        let changes = records.iter().map(|record| record.change);
        self.found.highest_change = changes.fold(self.found.highest_change, u64::max);
        Ok(places)
    }

    /// Begins the next segment.
    fn advance(&mut self, purpose: Purpose) -> Result<(), JournalError> {
        if self.found.used.len() + 1 + purpose.left() > self.most {
            return Err(JournalError::Full);
        }
        self.prepare()?;
        let next = self.found.ready.take().ok_or(JournalError::Full)?;
        if purpose != Purpose::Marks {
            match create(&*self.disk, next.number + 1, self.size) {
                Ok(ready) => self.found.ready = Some(ready),
                Err(error) => {
                    self.found.ready = Some(next);
                    return Err(error);
                }
            }
        }
        self.found.used.push_back(next);
        Ok(())
    }

    /// Reads records back, with their kinds.
    pub(super) fn read(&self, places: &[RecordPlace]) -> Result<Vec<(RecordHead, Vec<u8>)>, JournalError> {
        places.iter().map(|place| self.read_one(place)).collect()
    }

    fn read_one(&self, place: &RecordPlace) -> Result<(RecordHead, Vec<u8>), JournalError> {
        let path = || self.disk.path(&name(place.segment));
        let damaged = || std::io::Error::other(format!("the record at byte {} is damaged", place.offset));
        let segment = self.found.used.iter().find(|segment| segment.number == place.segment);
        let read = || {
            let segment = segment.ok_or_else(damaged)?;
            // The checksum before it is what its own one continues.
            let mut bytes = vec![0; SUM + usize::try_from(place.length).map_err(|_| damaged())?];
            segment.file.read_at(place.offset - SUM as u64, &mut bytes)?;
            let mut before = [0; SUM];
            before.copy_from_slice(&bytes[..SUM]);
            let mut chain = Chain::at(segment.key, before);
            let (head, payload) = chain.record(&bytes[SUM..]).ok_or_else(damaged)?;
            let is_it = head.sequence == place.sequence && (OVERHEAD + payload.len()) as u64 == place.length;
            if !is_it || head.flags & FINISHED != 0 {
                return Err(damaged());
            }
            Ok((head, payload.to_vec()))
        };
        read().map_err(|cause| JournalError::disk("reading", &path())(cause))
    }

    /// The numbers of those in use, oldest first.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.found.used.iter().map(|segment| segment.number)
    }

    /// The files that may hold what is not synced, and the mark to give to [`Self::synced`] once they are.
    pub(super) fn unsynced(&self) -> (Vec<Arc<dyn JournalFile>>, u64) {
        let files = self.found.used.iter().filter(|segment| segment.number >= self.unsynced);
        let last = self.found.used.back().map_or(0, |segment| segment.number);
        (files.map(|segment| Arc::clone(&segment.file)).collect(), last)
    }

    /// All that was written before that [`Self::unsynced`] is durable.
    pub(super) fn synced(&mut self, last: u64) {
        self.unsynced = self.unsynced.max(last);
    }

    /// How many are in use.
    pub(super) fn count(&self) -> usize {
        self.found.used.len()
    }

    /// Takes the oldest one out if it is not younger than this one. Its file is still there.
    pub(super) fn take_oldest(&mut self, up_to: u64) -> Option<String> {
        let oldest =
            self.found.used.front().map(|segment| segment.number).filter(|number| *number <= up_to)?;
        self.found.used.pop_front();
        Some(name(oldest))
    }

    /// Whether a record of the caller may begin another segment.
    pub(super) fn may_advance(&self) -> bool {
        self.found.used.len() + 1 + Purpose::Records.left() <= self.most
    }

    /// How many marks fit into a segment.
    pub(super) fn marks_max(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX).saturating_sub(HEADER) / OVERHEAD
    }

    /// Bytes that are written in all.
    pub(super) fn bytes(&self) -> u64 {
        self.found.used.iter().map(|segment| segment.end).sum()
    }

    /// Whether half of what may be in use is.
    pub(super) fn is_half_full(&self) -> bool {
        self.found.used.len() * 2 >= self.most
    }

    /// The highest number of a change that was seen.
    pub(super) fn highest_change(&self) -> u64 {
        self.found.highest_change
    }

    /// The segments that are left, removed with what they hold.
    pub(super) fn remove_all(&mut self) {
        let ready = self.found.ready.take();
        for segment in self.found.used.drain(..).chain(ready) {
            let _ = self.disk.remove(&name(segment.number));
        }
        let _ = self.disk.sync_names();
    }
}

impl Segment {
    fn has_room_for(&self, length: u64) -> bool {
        self.end.max(HEADER as u64) + length <= self.capacity
    }
}

#[test]
fn names_of_segments_are_recognized() {
    assert_eq!(name(1), "0000000001.journal");
    assert_eq!(number("0000000012.journal"), Some(12));
    assert_eq!(number(&name(u64::MAX)), Some(u64::MAX));
    for other in
        ["12.journal", "+000000012.journal", "identity", "refused/0000000001.journal", "0000000001.journal~"]
    {
        assert_eq!(number(other), None, "{other}");
    }
}
