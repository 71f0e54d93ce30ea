//! The classic view of latencies: buckets of 10 ms to 100 ms, of 100 ms to 1 s, and more.

use std::time::Duration;

use serde::Serialize;

/// The upper edge of every bucket but the last, in milliseconds.
const EDGES: [u64; 19] =
    [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];

/// Counts per bucket, exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classic([u64; EDGES.len() + 1]);

/// One bucket: from its lower edge up to, and without, its upper one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Lower edge in milliseconds.
    pub from_ms: u64,
    /// Upper edge in milliseconds; none for the last.
    pub to_ms: Option<u64>,
    /// How many took that long.
    pub count: u64,
}

impl Classic {
    /// Counts one.
    pub fn record(&mut self, took: Duration) {
        let nanoseconds = took.as_nanos();
        let bucket = EDGES.partition_point(|&edge| u128::from(edge) * 1_000_000 <= nanoseconds);
        self.0[bucket] += 1;
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// All buckets, in order.
    pub fn buckets(&self) -> Vec<Bucket> {
        let from = std::iter::once(0).chain(EDGES);
        let to = EDGES.into_iter().map(Some).chain([None]);
        from.zip(to).zip(self.0).map(|((from_ms, to_ms), count)| Bucket { from_ms, to_ms, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_lower_edge_and_not_their_upper() {
        for (microseconds, from, to) in [
            (0, 0, Some(10)),
            (9_999, 0, Some(10)),
            (10_000, 10, Some(20)),
            (99_999, 90, Some(100)),
            (100_000, 100, Some(200)),
            (460_000, 400, Some(500)),
            (999_999, 900, Some(1000)),
            (1_000_000, 1000, None),
            (3_600_000_000, 1000, None),
        ] {
            let mut classic = Classic::default();
            classic.record(Duration::from_micros(microseconds));
            let held: Vec<Bucket> = classic.buckets().into_iter().filter(|bucket| bucket.count > 0).collect();
            assert_eq!(held, [Bucket { from_ms: from, to_ms: to, count: 1 }], "{microseconds} µs");
        }
        assert_eq!(Classic::default().buckets().len(), 20);
    }
}
