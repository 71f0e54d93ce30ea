//! The ranges of a file that one lock owner has locked.

/// A range, both ends included. The last byte is `u64::MAX` for all to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockedRange {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) is_exclusive: bool,
    /// Whether this run of the server knows of it.
    pub(super) is_held: bool,
}

/// Takes these bytes out.
pub(super) fn cut(ranges: &mut Vec<LockedRange>, (first, last): (u64, u64)) {
    let mut kept = Vec::new();
    for range in ranges.drain(..) {
        if range.last < first || range.first > last {
            kept.push(range);
            continue;
        }
        if range.first < first {
            kept.push(LockedRange { last: first - 1, ..range });
        }
        if range.last > last {
            kept.push(LockedRange { first: last + 1, ..range });
        }
    }
    *ranges = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, last: u64) -> LockedRange {
        LockedRange { first, last, is_exclusive: true, is_held: true }
    }

    #[test]
    fn a_cut_leaves_what_is_around_it() {
        let mut ranges = vec![range(0, 9), range(20, u64::MAX)];
        cut(&mut ranges, (5, 29));
        assert_eq!(ranges, [range(0, 4), range(30, u64::MAX)]);
        cut(&mut ranges, (2, 2));
        assert_eq!(ranges, [range(0, 1), range(3, 4), range(30, u64::MAX)]);
        cut(&mut ranges, (0, u64::MAX));
        assert_eq!(ranges, []);
    }
}
