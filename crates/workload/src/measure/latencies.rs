//! How long each of many things took.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::classic::{Bucket, Classic};

/// Decimal digits to which a latency is kept.
const DIGITS: u8 = 3;

/// The percentiles that are reported.
const PERCENTILES: [f64; 8] = [1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Latencies, kept to three digits from a nanosecond up.
#[derive(Debug, Clone)]
pub struct Latencies {
    exact: Histogram<u64>,
    classic: Classic,
}

/// What a person or a program wants to know of latencies, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySummary {
    /// How many were measured.
    pub count: u64,
    /// The shortest.
    pub min_ms: f64,
    /// The mean.
    pub mean_ms: f64,
    /// The standard deviation.
    pub deviation_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Percentiles, ascending.
    pub percentiles: Vec<Percentile>,
    /// Buckets of 10 ms to 100 ms, of 100 ms to 1 s, and more.
    pub histogram: Vec<Bucket>,
}

/// So many percent took at most so long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentile {
    /// Percent of all.
    pub percent: f64,
    /// Milliseconds.
    pub ms: f64,
}

impl Latencies {
    /// None yet.
    pub fn new() -> Self {
        let exact = Histogram::new(DIGITS).expect("three digits are allowed");
        Self { exact, classic: Classic::default() }
    }

    /// Counts one.
    pub fn record(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.exact.record(nanoseconds.max(1)).expect("it grows as needed");
        self.classic.record(took);
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.exact.add(&other.exact).expect("both grow as needed");
        self.classic.add(&other.classic);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.exact.len()
    }

    /// What they were; none if nothing was counted.
    pub fn summary(&self) -> Option<LatencySummary> {
        let ms = |nanoseconds: f64| nanoseconds / 1e6;
        (self.count() > 0).then(|| LatencySummary {
            count: self.count(),
            min_ms: ms(self.exact.min() as f64),
            mean_ms: ms(self.exact.mean()),
            deviation_ms: ms(self.exact.stdev()),
            max_ms: ms(self.exact.max() as f64),
            percentiles: PERCENTILES
                .map(|percent| Percentile { percent, ms: ms(self.exact.value_at_percentile(percent) as f64) })
                .to_vec(),
            histogram: self.classic.buckets(),
        })
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_milliseconds_and_two_halves_make_a_whole() {
        let (mut low, mut high) = (Latencies::new(), Latencies::new());
        assert_eq!(low.summary(), None);
        (1..=50).for_each(|ms| low.record(Duration::from_millis(ms)));
        (51..=100).for_each(|ms| high.record(Duration::from_millis(ms)));
        low.add(&high);
        let summary = low.summary().expect("a hundred");
        let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.002;
        assert_eq!(summary.count, 100);
        assert!(near(summary.min_ms, 1.0) && near(summary.max_ms, 100.0) && near(summary.mean_ms, 50.5));
        let median = summary.percentiles.iter().find(|percentile| percentile.percent == 50.0);
        assert!(near(median.expect("an answer").ms, 50.0));
        assert_eq!(summary.histogram[0].count, 9, "1 to 9 ms");
        assert_eq!(summary.histogram[10].count, 1, "100 ms");
    }

    #[test]
    fn keeps_a_microsecond_and_an_hour() {
        let mut latencies = Latencies::new();
        latencies.record(Duration::from_micros(1));
        latencies.record(Duration::from_secs(3600));
        let summary = latencies.summary().expect("two");
        assert!(summary.min_ms < 0.0011 && summary.max_ms > 3_590_000.0, "{summary:?}");
    }
}
