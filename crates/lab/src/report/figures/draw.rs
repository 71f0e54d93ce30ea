//! One figure of a plan, whatever its kind.

use super::super::chart::Chart;
use super::super::results::Results;
use super::sketch::Sketch;
use super::{FigureTable, bars, latency, over_time, swept};
use crate::plan::{FigureKind, FigureSpec};

/// A figure for a reader.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// What is drawn; none if nothing was measured for it.
    pub chart: Option<Chart>,
    /// What a reader sees in it, in the plan's words.
    pub caption: String,
    /// What has to be known besides: which repetition, what is left out.
    pub notes: Vec<String>,
    /// Its numbers.
    pub table: FigureTable,
}

/// Draws a figure; a series that cannot be read is said in it and does not stop the report.
pub fn draw(results: &Results, spec: &FigureSpec) -> Drawn {
    let sketch = match spec.kind {
        // Against a single level there is nothing to sweep, as in a short form.
        FigureKind::Swept if swept::levels(results, spec) == 1 => bars::sketch(results, spec),
        FigureKind::Swept => swept::sketch(results, spec),
        FigureKind::Bars => bars::sketch(results, spec),
        FigureKind::Latency => latency::sketch(results, spec),
        FigureKind::Series => over_time::sketch(results, spec),
    };
    let caption = spec.caption.clone();
    match sketch {
        Ok(Sketch { chart, table, notes }) => Drawn { chart: Some(chart), caption, notes, table },
        Err(why) => Drawn { chart: None, caption, notes: vec![why], table: FigureTable::default() },
    }
}
