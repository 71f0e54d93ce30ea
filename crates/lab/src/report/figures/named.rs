//! Figures by name: their values in cells, what they are compared with, how they are said.

use super::super::results::{Results, in_records};
use super::super::units::Scale;
use crate::record::{CellMedians, unit};
use howdah_workload::measure::Spread;

/// The bound that the path itself sets to a figure in this unit.
pub struct Bound {
    /// What it is called.
    pub name: &'static str,
    /// Its value in a cell.
    pub of: fn(&CellMedians) -> Option<f64>,
}

/// Which bound belongs to a unit, if one does.
pub fn bound(recorded: &str) -> Option<Bound> {
    match recorded {
        unit::BYTES_PER_SECOND => {
            Some(Bound { name: "line rate", of: |cell| cell.line_rate_bytes_per_second })
        }
        _ => None,
    }
}

/// A cell's figure over its repetitions.
pub fn spread(cell: &CellMedians, figure: &str) -> Option<Spread> {
    cell.figures.get(figure).map(|(spread, _)| *spread)
}

/// The least and the most, if it was measured more than once.
pub fn whiskers(cell: &CellMedians, spread: Spread) -> Option<(f64, f64)> {
    (cell.ok > 1).then_some((spread.min, spread.max))
}

/// "43.3 MB/s (41.0 to 45.2, n = 3)".
pub fn said(cell: &CellMedians, spread: Spread, scale: &Scale) -> String {
    let value = scale.text(spread.median);
    match cell.ok {
        0 | 1 => value,
        n => format!("{value} ({} to {}, n = {n})", scale.number(spread.min), scale.number(spread.max)),
    }
}

/// The origin's value beside a cell, in the unit of the records, with its source.
pub fn origin<'a>(results: &'a Results, cell: &'a CellMedians, figure: &'a str) -> Option<(f64, &'a str)> {
    let recorded = results.unit(figure)?;
    results.origin_of(cell, figure).find_map(|origin| {
        let (value, unit) = in_records(origin)?;
        (unit == recorded).then_some((value, origin.source.as_str()))
    })
}

/// A figure's name in words, for headings and axes: "small.p99" is "Latency, p99 (small)".
pub fn worded(figure: &str) -> String {
    let percentile =
        figure.rfind(".p").filter(|at| figure[at + 2..].starts_with(|c: char| c.is_ascii_digit()));
    let (of, metric) = match percentile.or_else(|| figure.rfind('.').filter(|_| !is_percentile(figure))) {
        Some(at) => (&figure[..at], &figure[at + 1..]),
        None => ("", figure),
    };
    let metric = match metric {
        "processor" => "CPU time".to_owned(),
        "mean" | "worst" => format!("{metric} latency"),
        _ if is_percentile(metric) => format!("latency, {metric}"),
        _ => metric.replace('_', " "),
    };
    headed(&if of.is_empty() { metric } else { format!("{metric} ({of})") })
}

fn is_percentile(name: &str) -> bool {
    name.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A name with its first letter large.
pub fn headed(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_names_in_words() {
        for (figure, wanted) in [
            ("throughput", "Throughput"),
            ("near.throughput", "Throughput (near)"),
            ("p50", "Latency, p50"),
            ("p99.9", "Latency, p99.9"),
            ("small.stat.p99", "Latency, p99 (small.stat)"),
            ("main.p99.99", "Latency, p99.99 (main)"),
            ("server.processor", "CPU time (server)"),
            ("total.per_processor_second", "Per processor second (total)"),
            ("worst", "Worst latency"),
            ("", ""),
        ] {
            assert_eq!(worded(figure), wanted);
        }
    }
}
