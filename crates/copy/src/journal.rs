//! The journal's form: which copy it belongs to, then the ranges that were committed. Pure.
//!
//! It is only ever appended to, and every record carries a checksum that the header is part of: a torn end, or the end
//! of an older journal under a newer header, is not believed.

use std::ops::Range;

use howdah_vfs::{Attributes, Timestamp};

use super::ranges::RangeSet;

/// What a journal begins with; the last letter is the version of the form.
const MAGIC: &[u8; 8] = b"howdahj1";

/// Bytes of the header: magic, six numbers, checksum.
pub(super) const HEADER: usize = 8 + 6 * 8 + 8;

/// Bytes of a record: start, end, checksum.
pub(super) const RECORD: usize = 3 * 8;

/// Which copy a journal belongs to: the source as it was, and the partial file that it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) file_system: u64,
    pub(super) file: u64,
    pub(super) size: u64,
    pub(super) modified: Timestamp,
    /// The number of the partial file.
    pub(super) partial: u64,
}

impl Identity {
    pub(super) fn new(source: &Attributes, partial: &Attributes) -> Self {
        let Attributes { file_system, file, size, modified, .. } = *source;
        Self { file_system, file, size, modified, partial: partial.file }
    }

    /// Why a journal of another identity does not count, in words; nothing if it does.
    pub(super) fn difference(&self, journal: &Self) -> Option<&'static str> {
        if self.size != journal.size || self.modified != journal.modified {
            Some("the source was changed since")
        } else if (self.file_system, self.file) != (journal.file_system, journal.file) {
            Some("the source is another file now")
        } else if self.partial != journal.partial {
            Some("the partial file is not the one that was written then")
        } else {
            None
        }
    }

    /// The header.
    pub(super) fn header(&self) -> [u8; HEADER] {
        let numbers = [
            self.file_system,
            self.file,
            self.size,
            self.modified.seconds.cast_unsigned(),
            u64::from(self.modified.nanoseconds),
            self.partial,
        ];
        let mut bytes = MAGIC.to_vec();
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_be_bytes()));
        let sum = checksum(0, &bytes);
        bytes.extend_from_slice(&sum.to_be_bytes());
        bytes.try_into().expect("it has the parts that HEADER counts")
    }

    /// The record of a range.
    pub(super) fn record(&self, range: &Range<u64>) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&range.start.to_be_bytes());
        bytes[8..16].copy_from_slice(&range.end.to_be_bytes());
        let sum = checksum(checksum(0, &self.header()), &bytes[..16]);
        bytes[16..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// What a journal says: whose it is and what was committed, and how many of its bytes are good. Nothing, if it is
    /// none.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, RangeSet, usize)> {
        let header = bytes.get(..HEADER)?;
        let number = |at: usize| header[at..at + 8].try_into().map(u64::from_be_bytes).ok();
        let identity = Self {
            file_system: number(8)?,
            file: number(16)?,
            size: number(24)?,
            modified: Timestamp {
                seconds: number(32)?.cast_signed(),
                nanoseconds: u32::try_from(number(40)?).ok()?,
            },
            partial: number(48)?,
        };
        if header != identity.header() {
            return None;
        }
        let mut ranges = RangeSet::default();
        let mut good = HEADER;
        for record in bytes[HEADER..].chunks_exact(RECORD) {
            let (start, end) = (number_in(record, 0)?, number_in(record, 8)?);
            if start >= end || end > identity.size || record != identity.record(&(start..end)) {
                break;
            }
            ranges.insert(start..end);
            good += RECORD;
        }
        Some((identity, ranges, good))
    }
}

fn number_in(record: &[u8], at: usize) -> Option<u64> {
    record.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes)
}

/// FNV-1a of 64 bits: guards against torn and stale bytes, not against malice.
pub(super) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    bytes.iter().fold(start, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
mod tests {
    use super::*;

    fn identity() -> Identity {
        let modified = Timestamp { seconds: -5, nanoseconds: 7 };
        Identity { file_system: 1, file: 2, size: 1000, modified, partial: 3 }
    }

    fn journal(identity: &Identity, ranges: &[Range<u64>]) -> Vec<u8> {
        let mut bytes = identity.header().to_vec();
        ranges.iter().for_each(|range| bytes.extend_from_slice(&identity.record(range)));
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = journal(&identity(), &[0..10, 20..30, 10..20]);
        assert_eq!(Identity::parse(&bytes), Some((identity(), RangeSet::of(0..30), bytes.len())));
    }

    #[test]
    fn a_torn_end_does_not_count_wherever_it_is_torn() {
        let bytes = journal(&identity(), &[0..10, 20..30]);
        let whole = |length: usize| HEADER + (length - HEADER) / RECORD * RECORD;
        for length in 0..bytes.len() {
            let parsed = Identity::parse(&bytes[..length]);
            assert_eq!(parsed.map(|(_, _, good)| good), (length >= HEADER).then(|| whole(length)));
        }
        for damaged in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[damaged] ^= 0x10;
            let ranges = Identity::parse(&bytes).map_or(0, |(_, ranges, _)| ranges.bytes());
            assert!(ranges < 20, "byte {damaged}");
        }
    }

    #[test]
    fn records_of_another_copy_do_not_count() {
        let other = Identity { partial: 4, ..identity() };
        let mut bytes = journal(&identity(), &[0..10]);
        bytes.extend_from_slice(&other.record(&(10..20)));
        assert_eq!(Identity::parse(&bytes).map(|(_, ranges, _)| ranges), Some(RangeSet::of(0..10)));
        assert!(identity().difference(&other).is_some() && identity().difference(&identity()).is_none());
    }

    #[test]
    fn a_range_beyond_the_file_does_not_count() {
        let bytes = journal(&identity(), &[0..10, 990..1001]);
        assert_eq!(Identity::parse(&bytes).map(|(_, ranges, _)| ranges), Some(RangeSet::of(0..10)));
    }
}
