//! What one client measured.

use std::collections::BTreeMap;

use crate::record::{Figure, unit};

/// What one client measured: figures by their last words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// `throughput`, or `PHASE.throughput` of several phases.
    pub figures: BTreeMap<String, Figure>,
    /// Percentiles as pairs of a fraction and seconds; by phase, of a single one under the empty name.
    pub latencies: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Measured {
    /// Adds a figure. What is no number is not one.
    pub fn add(&mut self, name: &str, value: f64, unit: &str) {
        if value.is_finite() {
            self.figures.insert(name.to_owned(), Figure::new(value, unit));
        }
    }

    /// Adds bytes, and the throughput that they make in this time.
    pub fn add_bytes(&mut self, bytes: f64, seconds: f64) {
        self.add("bytes", bytes, unit::BYTES);
        self.add("seconds", seconds, unit::SECONDS);
        self.add("throughput", bytes / seconds, unit::BYTES_PER_SECOND);
    }
}
