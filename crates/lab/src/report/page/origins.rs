//! The origin's own figures beside ours.

use maud::{Markup, html};

use super::super::results::{Results, in_records};
use super::super::units::Scale;
use crate::plan::OriginFigure;
use crate::record::CellMedians;
use howdah_workload::measure::Spread;

/// What the origin measured, as it wrote it, and how ours compares.
pub fn beside(results: &Results, cell: &CellMedians, figure: &str, ours: Option<Spread>) -> Markup {
    let origins: Vec<&OriginFigure> = results.origin_of(cell, figure).collect();
    html! {
        @for origin in origins {
            div {
                (Scale::plain(&origin.unit).text(origin.value))
                @if let Some(times) = times(origin, ours) { " (ours: " (times) " times)" }
            }
            div.small { (origin.source) }
        }
    }
}

/// How many times ours is of the origin's.
fn times(origin: &OriginFigure, ours: Option<Spread>) -> Option<String> {
    let (value, _) = in_records(origin)?;
    let ratio = ours?.median / value;
    ratio.is_finite().then(|| Scale::plain("times").number(ratio))
}

/// Whether any cell has one for this figure.
pub fn any(results: &Results, figure: &str) -> bool {
    results.plan.origin_figures.iter().any(|origin| origin.figure == figure)
}
