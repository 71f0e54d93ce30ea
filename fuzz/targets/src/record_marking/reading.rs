//! The reference: all of a stream at once, record by record.

use howdah_wire::rpc::RecordMark;

use super::{FRAGMENTS_MAX, RECORD_MAX};

/// What is in a stream.
#[derive(Default)]
pub struct Reading {
    /// Its whole records.
    pub records: Vec<Vec<u8>>,
    /// Where each lies whose data is in one fragment, and the one that is not whole yet as well.
    pub places: Vec<Option<Place>>,
    /// Where the stream continues after each record.
    pub ends: Vec<usize>,
    /// Whether the stream breaks the rules after them.
    pub failed: bool,
}

/// A record's data in the stream, all of it in its last fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where it starts.
    pub start: usize,
    /// How long its mark says it is.
    pub length: usize,
}

impl Reading {
    /// Reads it.
    pub fn of(stream: &[u8]) -> Self {
        let mut reading = Self::default();
        let (mut record, mut fragments, mut at) = (Vec::new(), 0, 0);
        while let Some((&mark, after)) = stream[at..].split_first_chunk::<{ RecordMark::SIZE }>() {
            let mark = RecordMark::from_bytes(mark);
            let length = mark.length as usize;
            fragments += 1;
            if record.len() + length > RECORD_MAX || fragments > FRAGMENTS_MAX {
                reading.failed = true;
                break;
            }
            at += RecordMark::SIZE;
            if mark.last {
                reading.places.push(record.is_empty().then_some(Place { start: at, length }));
            }
            let Some(fragment) = after.get(..length) else { break };
            record.extend_from_slice(fragment);
            at += length;
            if mark.last {
                reading.records.push(std::mem::take(&mut record));
                reading.ends.push(at);
                fragments = 0;
            }
        }
        reading
    }

    /// Where the record of this number starts: its first mark.
    pub fn start(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}
