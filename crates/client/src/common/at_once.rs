//! Whether times show that two things are of one change: what a call did that was sent more than once.

use std::time::Duration;

use howdah_vfs::{Found, Timestamp};

/// How far the times of a node and of the change of its directory may lie apart, in nanoseconds: a server
/// takes the two from its clock one after the other, and some clocks step by 10 ms.
const AT_ONCE: i128 = 100_000_000;

/// Whether a node may have got its name by a RENAME that was first sent so long ago: that changed the node and its directory at once, and
/// since then the directory can have been changed for no longer.
pub(crate) fn may_be_named_within(found: &Found, ago: Duration) -> bool {
    let most = i128::try_from(ago.as_nanos()).unwrap_or(i128::MAX).saturating_add(AT_ONCE);
    let since = |modified| nanoseconds(modified) - nanoseconds(found.node.attributes.changed);
    found.directory.is_none_or(|directory| since(directory.modified) <= most)
}

/// Whether two times are of one change.
pub(crate) fn are_at_once(one: Timestamp, other: Timestamp) -> bool {
    (nanoseconds(one) - nanoseconds(other)).abs() <= AT_ONCE
}

fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_at_once_is_told_apart_from_what_does_not() {
        let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds };
        for (one, other, at_once) in [
            (time(5, 0), time(5, 0), true),
            (time(5, 0), time(4, 990_000_000), true),
            (time(5, 100_000_000), time(5, 0), true),
            (time(5, 100_000_001), time(5, 0), false),
            (time(i64::MAX, 0), time(i64::MIN, 0), false),
        ] {
            assert_eq!(are_at_once(one, other), at_once, "{one:?} {other:?}");
            assert_eq!(are_at_once(other, one), at_once, "{one:?} {other:?}");
        }
    }
}
