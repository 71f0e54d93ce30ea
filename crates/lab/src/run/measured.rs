//! What one client measured.

use std::collections::BTreeMap;

use crate::record::{RowFigure, unit};

/// What one client measured: figures by their last words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// `throughput`, or `PHASE.throughput` of several phases.
    pub figures: BTreeMap<String, RowFigure>,
    /// Percentiles as pairs of a fraction and seconds; by phase, of a single one under the empty name.
    pub latencies: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Measured {
    /// Adds a figure. What is no number is not one.
    pub fn add(&mut self, name: &str, value: f64, unit: &str) {
        if value.is_finite() {
            self.figures.insert(name.to_owned(), RowFigure::new(value, unit));
        }
    }

    /// Adds bytes, and the throughput that they make in this time.
    pub fn add_bytes(&mut self, bytes: f64, seconds: f64) {
        self.add("bytes", bytes, unit::BYTES);
        self.add("seconds", seconds, unit::SECONDS);
        self.add("throughput", bytes / seconds, unit::BYTES_PER_SECOND);
    }

    /// Times of replies in seconds, in any order but at least one, of so many calls.
    pub fn of_replies(mut times: Vec<f64>, sent: f64) -> Self {
        times.sort_by(f64::total_cmp);
        let count = times.len();
        let at = |part: f64| times[((count as f64 * part).ceil() as usize).clamp(1, count) - 1];
        let mut measured = Self::default();
        measured.add("replies", count as f64 / sent, unit::PART);
        measured.add("worst", times[count - 1], unit::SECONDS);
        measured.add("mean", times.iter().sum::<f64>() / count as f64, unit::SECONDS);
        let fractions = [0.01, 0.1, 0.5, 0.9, 0.95, 0.99];
        for fraction in fractions {
            measured.add(&format!("p{}", (fraction * 100.0_f64).round()), at(fraction), unit::SECONDS);
        }
        measured.latencies.insert(String::new(), fractions.map(|fraction| (fraction, at(fraction))).to_vec());
        measured
    }
}
