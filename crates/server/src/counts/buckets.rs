//! The buckets of latencies: log-linear, so that every latency from a microsecond to two minutes is known within an eighth.

/// Buckets in each doubling of time.
const STEPS: usize = 8;
/// The shift that leaves a number below [`STEPS`] of what follows the highest bit.
const STEP_BITS: u32 = STEPS.ilog2();
/// The first bucket ends at 2^10 ns, about a microsecond: no call is much faster.
const FIRST: u32 = 10;
/// The last bucket begins at 2^37 ns, 137 s: clients have asked again by then.
const LAST: u32 = 37;
/// How many there are.
pub const BUCKETS: usize = 2 + (LAST - FIRST) as usize * STEPS;

/// The bucket of a latency in nanoseconds.
pub fn bucket(nanoseconds: u64) -> usize {
    let Some(octave) = nanoseconds.checked_ilog2().filter(|octave| *octave >= FIRST) else { return 0 };
    if octave >= LAST {
        return BUCKETS - 1;
    }
    let step = (nanoseconds >> (octave - STEP_BITS)) as usize % STEPS;
    1 + (octave - FIRST) as usize * STEPS + step
}

/// Where a bucket ends, in nanoseconds: its latencies are below. The last one has no end.
pub fn upper_bound(bucket: usize) -> Option<u64> {
    match bucket {
        0 => Some(1 << FIRST),
        _ if bucket >= BUCKETS - 1 => None,
        _ => {
            let (octave, step) = ((bucket - 1) / STEPS, (bucket - 1) % STEPS);
            Some(((STEPS + step + 1) as u64) << (FIRST - STEP_BITS + octave as u32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_is_below_the_end_of_its_bucket_and_not_below_its_start() {
        let ends = (0..BUCKETS - 1).filter_map(upper_bound);
        for end in ends {
            assert_eq!(bucket(end), bucket(end - 1) + 1, "{end}");
        }
        let mut nanoseconds = 1;
        while nanoseconds < 1 << 40 {
            let place = bucket(nanoseconds);
            assert!(upper_bound(place).is_none_or(|end| nanoseconds < end), "{nanoseconds}");
            let start = place.checked_sub(1).and_then(upper_bound).unwrap_or(0);
            assert!(nanoseconds >= start, "{nanoseconds}");
            nanoseconds += nanoseconds / 7 + 1;
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
    }

    #[test]
    fn buckets_are_an_eighth_wide() {
        for place in 2..BUCKETS - 1 {
            let [start, end] =
                [place - 1, place].map(|place| upper_bound(place).expect("not the last") as f64);
            assert!((end - start) / start <= 0.125 + 1e-9, "{place}");
        }
    }
}
