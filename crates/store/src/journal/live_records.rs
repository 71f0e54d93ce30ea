//! Which records are of changes that are not finished, and where they are. Pure.

use std::collections::{BTreeMap, HashMap};

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordPlace {
    /// The number of the segment.
    pub(super) segment: u64,
    pub(super) offset: u64,
    /// Bytes of all of it.
    pub(super) length: u64,
    /// Its place in the order of all.
    pub(super) sequence: u64,
}

/// The records that a journal must keep.
#[derive(Debug, Default)]
pub(super) struct LiveRecords {
    changes: BTreeMap<u64, Vec<RecordPlace>>,
    bytes_of_segments: HashMap<u64, u64>,
    bytes: u64,
}

impl LiveRecords {
    /// A record was written.
    pub(super) fn add(&mut self, change: u64, place: RecordPlace) {
        self.changes.entry(change).or_default().push(place);
        self.count(place);
    }

    /// The change needs no record any more. False if it had none.
    pub(super) fn finish(&mut self, change: u64) -> bool {
        let places = self.changes.remove(&change).unwrap_or_default();
        places.iter().for_each(|place| self.discount(*place));
        !places.is_empty()
    }

    /// A record was written again elsewhere.
    pub(super) fn relocate(&mut self, change: u64, from: RecordPlace, to: RecordPlace) {
        let places = self.changes.get_mut(&change).into_iter().flatten();
        if let Some(place) = places.into_iter().find(|place| **place == from) {
            *place = to;
            self.discount(from);
            self.count(to);
        }
    }

    /// The records of a change, in the order in which they were appended.
    pub(super) fn of(&self, change: u64) -> &[RecordPlace] {
        self.changes.get(&change).map_or(&[], Vec::as_slice)
    }

    /// Those in a segment, with their changes.
    pub(super) fn within(&self, segment: u64) -> Vec<(u64, RecordPlace)> {
        let all =
            self.changes.iter().flat_map(|(change, places)| places.iter().map(|place| (*change, *place)));
        all.filter(|(_, place)| place.segment == segment).collect()
    }

    /// Whether a segment has any.
    pub(super) fn any_within(&self, segment: u64) -> bool {
        self.bytes_of_segments.contains_key(&segment)
    }

    /// Bytes of all.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many changes have records.
    pub(super) fn changes(&self) -> usize {
        self.changes.len()
    }

    fn count(&mut self, place: RecordPlace) {
        *self.bytes_of_segments.entry(place.segment).or_default() += place.length;
        self.bytes += place.length;
    }

    fn discount(&mut self, place: RecordPlace) {
        self.bytes -= place.length;
        if let Some(bytes) = self.bytes_of_segments.get_mut(&place.segment) {
            *bytes -= place.length;
            if *bytes == 0 {
                self.bytes_of_segments.remove(&place.segment);
            }
        }
    }
}

#[test]
fn a_segment_has_no_records_once_its_changes_are_finished_or_moved() {
    let place = |segment, sequence| RecordPlace { segment, offset: 0, length: 10, sequence };
    let mut live = LiveRecords::default();
    live.add(1, place(1, 1));
    live.add(2, place(1, 2));
    live.add(1, place(2, 3));
    assert!(live.finish(1) && !live.finish(1));
    assert!(live.any_within(1) && !live.any_within(2));
    live.relocate(2, place(1, 2), place(3, 2));
    assert!(!live.any_within(1));
    assert_eq!((live.within(3), live.bytes(), live.changes()), (vec![(2, place(3, 2))], 10, 1));
    assert_eq!((live.of(2), live.of(1)), (&[place(3, 2)][..], &[][..]));
}
