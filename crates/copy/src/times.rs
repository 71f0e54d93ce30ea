//! Whether two times are the same, to file systems that keep times in steps of different lengths.

use howdah_vfs::Timestamp;

/// Whether a copy has the time of its source. The step, in nanoseconds, is that of the coarser file system. The copy's file
/// system may have no times beyond 32 bits.
pub(super) fn is_near(source: Timestamp, copy: Timestamp, step: u64) -> bool {
    let is_near = |source| are_near(source, copy, step) || is_truncated(source, copy);
    is_near(source) || (source != source.in_32_bits() && is_near(source.in_32_bits()))
}

/// Steps in which file systems keep times and often do not say so: whole seconds (ext4 with small inodes, HFS+, many NAS), 10 ms
/// (exFAT), a microsecond, 100 ns (NTFS). Those of two seconds say so.
const USUAL_STEPS: [u32; 5] = [1_000_000_000, 10_000_000, 1_000_000, 1000, 100];

/// Whether a time is just what a destination keeps of the source's time.
fn is_truncated(source: Timestamp, copy: Timestamp) -> bool {
    source.seconds == copy.seconds
        && USUAL_STEPS.iter().any(|step| source.nanoseconds - source.nanoseconds % step == copy.nanoseconds)
}

/// Whether two times are equal for file systems that keep times in these steps, in nanoseconds. The coarser step decides.
pub(super) fn are_near(one: Timestamp, other: Timestamp, step: u64) -> bool {
    let nanoseconds =
        |time: Timestamp| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    let distance = nanoseconds(one).abs_diff(nanoseconds(other));
    distance == 0 || distance < u128::from(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_in_the_coarser_step() {
        let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds };
        assert!(are_near(time(5, 7), time(5, 7), 0) && are_near(time(5, 7), time(5, 7), 1));
        assert!(!are_near(time(5, 7), time(5, 8), 1));
        assert!(are_near(time(5, 999_999_999), time(5, 0), 1_000_000_000));
        assert!(!are_near(time(6, 0), time(5, 0), 1_000_000_000));
        assert!(are_near(time(-1, 500), time(-1, 0), 1000));
    }

    #[test]
    fn a_copy_may_keep_less_of_a_time_than_it_says() {
        let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds };
        let source = time(5, 123_456_789);
        for kept in [0, 120_000_000, 123_000_000, 123_456_000, 123_456_700, 123_456_789] {
            assert!(is_near(source, time(5, kept), 1), "{kept}");
        }
        for other in [1, 123_456_788, 123_456_701, 123_457_000, 124_000_000, 130_000_000] {
            assert!(!is_near(source, time(5, other), 1), "{other}");
        }
        assert!(!is_near(source, time(4, 0), 1) && !is_near(source, time(6, 0), 1));
        assert!(!is_near(time(5, 0), time(5, 7), 1), "the copy was changed in that second");
        assert!(is_near(time(-100, 5), time(0, 0), 1), "no time before 1970, and whole seconds");
    }

    #[test]
    fn a_copy_may_know_no_times_beyond_32_bits() {
        let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds };
        let last = time(u32::MAX.into(), 999_999_999);
        assert!(is_near(time(-100, 5), time(0, 0), 1) && is_near(time(-100, 5), time(-100, 5), 1));
        assert!(is_near(time(5_000_000_000, 0), last, 1));
        assert!(is_near(time(5_000_000_000, 0), time(u32::MAX.into(), 0), 1_000_000_000));
        assert!(!is_near(time(0, 0), time(-100, 5), 1) && !is_near(time(-100, 5), time(1, 0), 1));
    }
}
