//! Figures by name: their values in cells, what they are compared with, how they are said.

use super::super::results::{Results, in_records};
use super::super::units::Scale;
use crate::measure::Spread;
use crate::record::{CellMedians, unit};

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

/// A name with its first letter large.
pub fn headed(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
