//! What a simulation measured.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::record::{RowFigure, unit};
use howdah_workload::measure::Latencies;

/// Figures and latencies, under the names that rows have for those of a client.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimulationResult {
    /// `seconds`, `throughput`, `bytes`, `calls`, `retransmissions`; of the calls `p50` and so on, `mean`, `worst`; of the
    /// program's reads the same with `record.` before; `gap.worst`, the longest time in which nothing was read.
    pub figures: BTreeMap<String, RowFigure>,
    /// Percentiles as pairs of a fraction and seconds: of calls under the empty name, of the program's reads as `record`.
    pub latencies: BTreeMap<String, Vec<(f64, f64)>>,
}

impl SimulationResult {
    pub(super) fn add(&mut self, name: &str, value: f64, unit: &str) {
        self.figures.insert(name.to_owned(), RowFigure::new(value, unit));
    }

    pub(super) fn add_seconds(&mut self, name: &str, value: Duration) {
        self.add(name, value.as_secs_f64(), unit::SECONDS);
    }

    pub(super) fn add_latencies(&mut self, name: &str, latencies: &Latencies) {
        let Some(summary) = latencies.summary() else { return };
        let prefix = if name.is_empty() { String::new() } else { format!("{name}.") };
        let mut figure =
            |figure: &str, ms: f64| self.add(&format!("{prefix}{figure}"), ms / 1e3, unit::SECONDS);
        figure("mean", summary.mean_ms);
        figure("worst", summary.max_ms);
        for percentile in &summary.percentiles {
            figure(&format!("p{}", percentile.percent), percentile.ms);
        }
        let pairs = summary.percentiles.iter().map(|each| (each.percent / 100.0, each.ms / 1e3));
        self.latencies.insert(name.to_owned(), pairs.collect());
    }
}
