//! From measurements to figures: medians, spreads, ratios, and whether a target is met.

use super::generator::Slice;
use super::measure::Measured;
use super::row::{Metric, Row, Target};

/// A median with what lies around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// The figures of a row. Costs are in nanoseconds per unit.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Cost of the server.
    pub server: Option<Spread>,
    /// Which floor is the best.
    pub best: Option<usize>,
    /// Cost of it.
    pub floor: Option<Spread>,
    /// Server to best floor, run by run, median.
    pub ratio: Option<f64>,
    /// Units per second that the server did.
    pub rate: Option<Spread>,
    /// Units per second that the floor did.
    pub floor_rate: Option<Spread>,
}

impl Figures {
    /// Of these measurements.
    pub fn of(measured: &Measured) -> Self {
        let costs =
            |slices: &[Slice]| slices.iter().map(|slice| cost(measured.row, slice)).collect::<Vec<_>>();
        let server = costs(&measured.server);
        let floors: Vec<_> = measured.floors.iter().map(|(_, slices)| costs(slices)).collect();
        let median =
            |index: &usize| Spread::of(&floors[*index]).map_or(f64::INFINITY, |spread| spread.median);
        let best = (0..floors.len()).min_by(|one, other| median(one).total_cmp(&median(other)));
        let ratios: Vec<_> = best
            .map(|best| server.iter().zip(&floors[best]).map(|(server, floor)| server / floor).collect())
            .unwrap_or_default();
        let rates = |slices: &[Slice]| Spread::of(&slices.iter().map(rate).collect::<Vec<_>>());
        Self {
            server: Spread::of(&server),
            best,
            floor: best.and_then(|best| Spread::of(&floors[best])),
            ratio: Spread::of(&ratios).map(|spread| spread.median),
            rate: rates(&measured.server),
            floor_rate: best.and_then(|best| rates(&measured.floors[best].1)),
        }
    }

    /// Whether the target is met, if there is one and the server was measured.
    pub fn met(&self, target: Target) -> Option<bool> {
        let cost = self.server?.median;
        match target {
            Target::None => None,
            Target::Cost(most) => Some(cost <= most),
            Target::CostAndRate(most, least) => Some(cost <= most && self.rate?.median >= least),
            Target::Ratio(most) => Some(self.ratio? <= most),
        }
    }

    /// The share of their cores that the subject and the load used.
    pub fn busy(slices: &[Slice]) -> (f64, f64) {
        let share = |time: fn(&Slice) -> f64| {
            let shares: Vec<_> =
                slices.iter().map(|slice| time(slice) / slice.elapsed.as_secs_f64()).collect();
            Spread::of(&shares).map_or(0.0, |spread| spread.median)
        };
        (share(|slice| slice.subject.as_secs_f64()), share(|slice| slice.load.as_secs_f64()))
    }
}

impl Spread {
    /// Of these values; none of no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() {
            0 => return None,
            length if length % 2 == 1 => sorted[middle],
            _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
        };
        Some(Self { median, least: sorted[0], most: sorted[sorted.len() - 1] })
    }
}

/// Nanoseconds per unit: of processor time, or of waiting.
pub fn cost(row: &Row, slice: &Slice) -> f64 {
    match row.metric {
        Metric::Processor => slice.subject.as_nanos() as f64 / slice.units as f64,
        Metric::Latency => {
            let waits: Vec<_> = slice.latencies.iter().map(|wait| wait.as_nanos() as f64).collect();
            Spread::of(&waits).map_or(f64::NAN, |spread| spread.median)
        }
    }
}

fn rate(slice: &Slice) -> f64 {
    slice.units as f64 / slice.elapsed.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(Spread { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).map(|spread| spread.median), Some(2.5));
    }
}
