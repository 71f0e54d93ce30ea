//! A set of byte ranges. Pure.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint ranges, none adjacent to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RangeSet {
    /// End by start.
    ends: BTreeMap<u64, u64>,
    bytes: u64,
}

impl RangeSet {
    /// One range.
    pub(super) fn of(range: Range<u64>) -> Self {
        let mut set = Self::default();
        set.insert(range);
        set
    }

    /// Bytes in it.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ends.iter().map(|(&start, &end)| start..end)
    }

    /// Adds a range; what is there already stays.
    pub(super) fn insert(&mut self, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        if start >= end {
            return;
        }
        // The first that may touch it begins before, all others within.
        let before = self.ends.range(..start).next_back().filter(|&(_, &before_end)| before_end >= start);
        if let Some((&before, _)) = before {
            start = before;
        }
        while let Some((&touching, &touching_end)) = self.ends.range(start..=end).next() {
            self.ends.remove(&touching);
            self.bytes -= touching_end - touching;
            end = end.max(touching_end);
        }
        self.ends.insert(start, end);
        self.bytes += end - start;
    }

    /// Adds all of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        other.iter().for_each(|range| self.insert(range));
    }

    /// What of `0..size` is not in it.
    pub(super) fn missing(&self, size: u64) -> Self {
        let mut missing = Self::default();
        let mut at = 0;
        for range in self.iter() {
            missing.insert(at..range.start.min(size));
            at = range.end;
        }
        missing.insert(at..size);
        missing
    }

    /// Takes out what lies in a range.
    pub(super) fn take_within(&mut self, range: Range<u64>) -> Self {
        let mut taken = Self::default();
        let first = self.ends.range(..=range.start).next_back().map_or(range.start, |(&start, _)| start);
        let near: Vec<_> = self.ends.range(first..range.end).map(|(&start, &end)| start..end).collect();
        for part in near {
            let (start, end) = (part.start.max(range.start), part.end.min(range.end));
            if start < end {
                self.ends.remove(&part.start);
                self.bytes -= part.end - part.start;
                self.insert(part.start..start);
                self.insert(end..part.end);
                taken.insert(start..end);
            }
        }
        taken
    }

    /// Takes the first bytes out: at most `most`, and not beyond the next multiple of `most`, so that what is taken
    /// stays aligned.
    pub(super) fn take_first(&mut self, most: u64) -> Option<Range<u64>> {
        let (start, end) = self.ends.pop_first()?;
        let stop = (start / most + 1).saturating_mul(most).min(end);
        if stop < end {
            self.ends.insert(stop, end);
        }
        self.bytes -= stop - start;
        Some(start..stop)
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
mod tests {
    use super::*;

    fn set(ranges: &[Range<u64>]) -> RangeSet {
        let mut set = RangeSet::default();
        ranges.iter().for_each(|range| set.insert(range.clone()));
        set
    }

    fn list(set: &RangeSet) -> Vec<Range<u64>> {
        assert_eq!(set.bytes(), set.iter().map(|range| range.end - range.start).sum::<u64>());
        set.iter().collect()
    }

    #[test]
    fn ranges_that_touch_become_one() {
        assert_eq!(list(&set(&[0..2, 4..6, 2..4])), [0..6]);
        assert_eq!(list(&set(&[4..6, 0..2, 1..5])), [0..6]);
        assert_eq!(list(&set(&[0..9, 3..4, 5..5])), [0..9]);
        assert_eq!(list(&set(&[8..9, 0..1, 4..5])), [0..1, 4..5, 8..9]);
        assert_eq!(list(&set(&[8..9, 0..1, 4..5, 0..10])), [0..10]);
    }

    #[test]
    fn what_is_missing_is_the_rest() {
        assert_eq!(list(&set(&[2..4, 6..8]).missing(10)), [0..2, 4..6, 8..10]);
        assert_eq!(list(&set(&[0..4]).missing(3)), []);
        assert_eq!(list(&set(&[]).missing(3)), [0..3]);
    }

    #[test]
    fn what_lies_in_a_range_is_taken_and_the_rest_stays() {
        let mut ranges = set(&[0..4, 6..8, 9..12, 20..21]);
        assert_eq!(list(&ranges.take_within(2..10)), [2..4, 6..8, 9..10]);
        assert_eq!(list(&ranges), [0..2, 10..12, 20..21]);
        assert_eq!(list(&ranges.take_within(13..20)), []);
        assert_eq!(list(&ranges.take_within(2..2)), []);
        assert_eq!(list(&ranges.take_within(0..100)), [0..2, 10..12, 20..21]);
        assert!(ranges.is_empty() && ranges.bytes() == 0);
    }

    #[test]
    fn what_is_taken_is_aligned() {
        let mut ranges = set(&[3..10, 12..13]);
        let taken: Vec<_> = std::iter::from_fn(|| ranges.take_first(4)).collect();
        assert_eq!(taken, [3..4, 4..8, 8..10, 12..13]);
        assert_eq!((ranges.bytes(), ranges.is_empty()), (0, true));
    }
}
