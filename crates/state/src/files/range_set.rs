//! What one owner has locked of a file.

use std::collections::BTreeMap;

use crate::ids::{ByteRange, LockKind};

/// What one owner has locked of a file: ranges that do not overlap, and do not touch where they are of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RangeSet {
    /// From the first byte to the last, and how.
    ranges: BTreeMap<u64, (u64, LockKind)>,
}

impl RangeSet {
    /// Locks these bytes so, whatever they were, or unlocks them.
    pub fn set(&mut self, range: ByteRange, kind: Option<LockKind>) {
        self.cut(range);
        if let Some(kind) = kind {
            self.join(range, kind);
        }
    }

    /// Unlocks, and leaves what lies before and behind of ranges that are cut.
    fn cut(&mut self, range: ByteRange) {
        let over: Vec<_> = self.overlapping(range).collect();
        for (old, kind) in over {
            self.ranges.remove(&old.first);
            if old.first < range.first {
                self.ranges.insert(old.first, (range.first - 1, kind));
            }
            if old.last > range.last {
                self.ranges.insert(range.last + 1, (old.last, kind));
            }
        }
    }

    /// Locks bytes that are free, together with neighbours of the kind.
    fn join(&mut self, range: ByteRange, kind: LockKind) {
        let ByteRange { mut first, mut last } = range;
        if let Some((&before, &(end, same))) = self.ranges.range(..first).next_back()
            && end + 1 == first
            && same == kind
        {
            self.ranges.remove(&before);
            first = before;
        }
        if let Some(next) = last.checked_add(1)
            && let Some(&(end, same)) = self.ranges.get(&next)
            && same == kind
        {
            self.ranges.remove(&next);
            last = end;
        }
        self.ranges.insert(first, (last, kind));
    }

    /// Ranges that share a byte with this one, whole, ascending.
    pub fn overlapping(&self, range: ByteRange) -> impl Iterator<Item = (ByteRange, LockKind)> + '_ {
        let before =
            self.ranges.range(..range.first).next_back().filter(|(_, (last, _))| *last >= range.first);
        let from = self.ranges.range(range.first..=range.last);
        let whole = |(&first, &(last, kind)): (&u64, &(u64, LockKind))| (ByteRange { first, last }, kind);
        before.into_iter().chain(from).map(whole)
    }

    /// What is locked of these bytes, ascending.
    pub fn within(&self, range: ByteRange) -> impl Iterator<Item = (ByteRange, LockKind)> + '_ {
        self.overlapping(range).filter_map(move |(one, kind)| Some((one.intersection(range)?, kind)))
    }

    /// Whether unlocking these bytes makes two ranges of one.
    pub fn splits(&self, range: ByteRange) -> bool {
        let around = |(one, _): (ByteRange, _)| one.first < range.first && one.last > range.last;
        self.overlapping(range).next().is_some_and(around)
    }

    /// How many ranges there are.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }
}

#[cfg(test)]
mod tests {
    use howdah_random::Random;

    use super::*;

    #[test]
    fn it_is_what_an_array_of_bytes_would_be() {
        for seed in 0..200 {
            let (mut random, mut set, mut bytes) = (Random::new(seed), RangeSet::default(), [None; 40]);
            for _ in 0..40 {
                let first = random.below(40);
                let range = ByteRange { first, last: first + random.below(40 - first) };
                let kind = [None, Some(LockKind::Read), Some(LockKind::Write)][random.index(3)];
                set.set(range, kind);
                (range.first..=range.last).for_each(|byte| bytes[byte as usize] = kind);
                let all: Vec<_> = set.overlapping(ByteRange::ALL).collect();
                for (byte, kind) in bytes.iter().enumerate() {
                    let held =
                        all.iter().find(|(one, _)| one.first <= byte as u64 && byte as u64 <= one.last);
                    assert_eq!(held.map(|(_, kind)| *kind), *kind, "seed {seed}, byte {byte}: {all:?}");
                }
                let touches = |pair: &[(ByteRange, LockKind)]| {
                    pair[0].0.last + 1 == pair[1].0.first && pair[0].1 == pair[1].1
                };
                assert!(!all.windows(2).any(touches), "seed {seed}: {all:?}");
            }
        }
    }

    #[test]
    fn the_last_byte_of_all_is_one() {
        let mut set = RangeSet::default();
        let end = ByteRange { first: u64::MAX, last: u64::MAX };
        set.set(ByteRange::ALL, Some(LockKind::Write));
        assert!(!set.splits(end) && set.splits(ByteRange { first: 5, last: 6 }));
        set.set(end, None);
        set.set(end, Some(LockKind::Write));
        assert_eq!(set.overlapping(end).collect::<Vec<_>>(), [(ByteRange::ALL, LockKind::Write)]);
    }
}
