//! A figure with its caption and its numbers.

use maud::{Markup, html};

use super::super::chart::{Width, svg};
use super::super::figures::Drawn;
use super::table::plain;

/// The figure, for wide and for narrow screens; only one is shown.
pub fn figure(drawn: &Drawn, number: usize) -> Markup {
    let id = format!("figure-{number}");
    let title = drawn.chart.as_ref().map_or("Nothing to draw", |chart| chart.title.as_str());
    html! {
        figure id=(id) {
            h3 { "Figure " (number) ": " (title) }
            @if let Some(chart) = &drawn.chart {
                (svg(chart, Width::Wide, &format!("{id}-wide")))
                (svg(chart, Width::Narrow, &format!("{id}-narrow")))
            }
            figcaption {
                p { (drawn.caption) }
                @for note in &drawn.notes { p.note { (note) } }
            }
            @if !drawn.table.rows.is_empty() {
                details {
                    summary { "The numbers of figure " (number) }
                    (plain(&format!("The numbers of figure {number}"), &drawn.table.head, &drawn.table.rows))
                }
            }
        }
    }
}
