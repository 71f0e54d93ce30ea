//! Reading a journal: the records that count, up to the first broken one, and setting aside what follows that.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

use super::disk::{JournalDisk, JournalFile};
use super::error::JournalError;
use super::format::{self, FINISHED, HeaderFault, OVERHEAD, Scan};
use super::live_records::{LiveRecords, RecordPlace};
use super::record::JournalRecord;
use super::segments::{FoundSegments, REFUSED, name, number};

/// What was read.
pub(super) struct Replay {
    pub(super) segments: FoundSegments,
    pub(super) live: LiveRecords,
    /// The live records, in order.
    pub(super) records: Vec<JournalRecord>,
    /// Files with what is not believed.
    pub(super) set_aside: Vec<PathBuf>,
}

/// Records of changes that were not finished so far.
#[derive(Default)]
struct Unfinished {
    /// By their place in the order.
    records: BTreeMap<u64, (JournalRecord, RecordPlace)>,
    of_changes: HashMap<u64, Vec<u64>>,
}

/// What follows from the oldest segment on.
struct Reading {
    found: FoundSegments,
    unfinished: Unfinished,
    /// What the last segment has behind its last good record.
    torn: Vec<u8>,
    /// Segments that do not continue it.
    rest: VecDeque<u64>,
}

/// Reads all segments. What is not needed to read them again is removed or set aside.
pub(super) fn read(disk: &dyn JournalDisk, size: u64) -> Result<Replay, JournalError> {
    let Reading { mut found, unfinished, torn, rest } = follow(disk)?;
    let mut set_aside = leave_out(disk, &rest, size, &mut found)?;
    set_aside.extend(cut(disk, &torn, &mut found)?);
    disk.sync_names().map_err(JournalError::disk("syncing", &disk.path("")))?;
    let (mut live, mut records) = (LiveRecords::default(), Vec::new());
    for (record, place) in unfinished.records.into_values() {
        live.add(record.change, place);
        records.push(record);
    }
    Ok(Replay { segments: found, live, records, set_aside })
}

/// How many changes are not finished.
pub(super) fn count_unfinished(disk: &dyn JournalDisk) -> Result<u64, JournalError> {
    follow(disk).map(|reading| reading.unfinished.of_changes.len() as u64)
}

fn follow(disk: &dyn JournalDisk) -> Result<Reading, JournalError> {
    let names = disk.list().map_err(JournalError::disk("listing", &disk.path("")))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    let mut reading = Reading {
        found: FoundSegments::default(),
        unfinished: Unfinished::default(),
        torn: Vec::new(),
        rest: numbers.into(),
    };
    while let Some(number) = reading.rest.front().copied() {
        let (file, bytes) = load(disk, number)?;
        let scan = match format::scan(&bytes) {
            Ok(scan) if scan.header.number == number && reading.found.are_continued_by(&scan.header) => scan,
            Err(HeaderFault::Newer) => return Err(JournalError::Newer { path: disk.path(&name(number)) }),
            Ok(_) | Err(HeaderFault::Broken) => break,
        };
        reading.unfinished.take(&scan);
        reading.torn = written(&bytes[scan.end..]).to_vec();
        reading.found.add(&scan, file, bytes.len() as u64);
        reading.rest.pop_front();
    }
    Ok(reading)
}

fn load(disk: &dyn JournalDisk, number: u64) -> Result<(Arc<dyn JournalFile>, Vec<u8>), JournalError> {
    let name = name(number);
    let read = || {
        let file = disk.open(&name)?;
        let bytes = file.read()?;
        Ok((file, bytes))
    };
    read().map_err(JournalError::disk("reading", &disk.path(&name)))
}

/// What was written: all up to the last byte that is not zero.
fn written(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

impl Unfinished {
    /// Takes the records of one more segment.
    fn take(&mut self, scan: &Scan<'_>) {
        for record in &scan.records {
            let head = record.head;
            if head.flags & FINISHED != 0 {
                self.finish(head.change);
                continue;
            }
            let place = RecordPlace {
                segment: scan.header.number,
                offset: record.offset as u64,
                length: (OVERHEAD + record.payload.len()) as u64,
                sequence: head.sequence,
            };
            let payload = record.payload.to_vec();
            self.add(JournalRecord { kind: head.kind, change: head.change, payload }, place);
        }
    }

    /// One that was moved takes the place of its original.
    fn add(&mut self, record: JournalRecord, place: RecordPlace) {
        let change = record.change;
        if self.records.insert(place.sequence, (record, place)).is_none() {
            self.of_changes.entry(change).or_default().push(place.sequence);
        }
    }

    fn finish(&mut self, change: u64) {
        for sequence in self.of_changes.remove(&change).unwrap_or_default() {
            self.records.remove(&sequence);
        }
    }
}

/// Sets aside the segments that do not continue the others. One that is empty becomes the next one, further ones are removed.
fn leave_out(
    disk: &dyn JournalDisk,
    numbers: &VecDeque<u64>,
    size: u64,
    found: &mut FoundSegments,
) -> Result<Vec<PathBuf>, JournalError> {
    let (mut set_aside, mut ready) = (Vec::new(), None);
    for number in numbers {
        let (file, bytes) = load(disk, *number)?;
        let from = name(*number);
        let step = JournalError::disk("setting aside", &disk.path(&from));
        if !written(&bytes).is_empty() {
            let to = free_name(disk, &format!("{REFUSED}{number:010}"))?;
            disk.rename(&from, &to).map_err(step)?;
            set_aside.push(disk.path(&to));
        } else if ready.is_none() && bytes.len() as u64 == size {
            ready = Some((from, file));
        } else {
            disk.remove(&from).map_err(step)?;
        }
    }
    if let Some((from, file)) = ready {
        let to = name(found.next_number());
        if from != to {
            // What had this name must be elsewhere by then.
            let moved = disk.sync_names().and_then(|()| disk.rename(&from, &to));
            moved.map_err(JournalError::disk("renaming", &disk.path(&from)))?;
        }
        found.set_ready(file, size);
    }
    Ok(set_aside)
}

/// Copies what follows the last good record to a file, and writes zeros over it. On a full disk it stays where it is, and nothing is
/// appended to its segment.
fn cut(
    disk: &dyn JournalDisk,
    torn: &[u8],
    found: &mut FoundSegments,
) -> Result<Option<PathBuf>, JournalError> {
    let Some((number, last, end)) = found.last().filter(|_| !torn.is_empty()) else { return Ok(None) };
    let from = disk.path(&name(number));
    let step = "setting aside what is broken in";
    let to = free_name(disk, &format!("{REFUSED}{number:010}-{end}"))?;
    let file = match disk.create(&to, torn.len() as u64) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NOSPC) => {
            found.close_last();
            return Ok(Some(from));
        }
        outcome => outcome.map_err(JournalError::disk(step, &from))?,
    };
    let cut = || {
        file.write_at(0, &mut [IoSlice::new(torn)])?;
        file.sync()?;
        disk.sync_names()?;
        let zeros = vec![0; torn.len()];
        last.write_at(end, &mut [IoSlice::new(&zeros)])?;
        last.sync()
    };
    cut().map_err(JournalError::disk(step, &from))?;
    Ok(Some(disk.path(&to)))
}

/// A name for what is set aside that nothing has.
fn free_name(disk: &dyn JournalDisk, start: &str) -> Result<String, JournalError> {
    let names = disk.list().map_err(JournalError::disk("listing", &disk.path("")))?;
    let mut candidates = (0_u64..).map(|count| match count {
        0 => format!("{start}.broken"),
        _ => format!("{start}.{count}.broken"),
    });
    Ok(candidates.find(|name| !names.contains(name)).expect("numbers do not end"))
}
