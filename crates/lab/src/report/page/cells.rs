//! The table of cells, and the list of what failed.

use maud::{Markup, html};

use super::super::results::Results;
use super::super::units::Scale;
use super::origins;
use super::table::scrolling;
use crate::record::{CellMedians, Outcome, Row, unit};
use howdah_workload::measure::Spread;

/// A figure's column, in one unit for all cells.
struct Column {
    figure: String,
    scale: Scale,
    /// Whether a share of the line rate is shown.
    of_line_rate: bool,
    of_origin: bool,
}

/// Each cell with its levels and figures.
pub fn cells(results: &Results) -> Markup {
    if results.cells.is_empty() {
        return html! {};
    }
    let columns: Vec<Column> = results.figures().into_iter().map(|figure| column(results, figure)).collect();
    let body = html! { @for cell in &results.cells { (row(results, cell, &columns)) } };
    html! {
        section #cells aria-labelledby="cells-title" {
            h2 #cells-title { "All cells" }
            p.note { "Medians over the repetitions; below them the least and the most, and how many were measured." }
            (scrolling("All cells", &head(results, &columns), body, true))
        }
    }
}

/// What failed, and why; repetitions of a cell that failed alike stand together.
pub fn failures(results: &Results) -> Markup {
    let mut failed: Vec<(&Row, Vec<String>, &str)> = Vec::new();
    for row in &results.rows {
        let Outcome::Failed(why) = &row.outcome else { continue };
        let repetition = row.repetition.to_string();
        match failed.last_mut() {
            Some((last, repetitions, known)) if last.cell == row.cell && known == why => {
                repetitions.push(repetition)
            }
            _ => failed.push((row, vec![repetition], why)),
        }
    }
    html! {
        @if !failed.is_empty() {
            section #failed aria-labelledby="failed-title" {
                h2 #failed-title { "What failed" }
                ul.failed { @for (row, repetitions, why) in &failed { (failure(results, row, repetitions, why)) } }
            }
        }
    }
}

fn failure(results: &Results, row: &Row, repetitions: &[String], why: &str) -> Markup {
    let name = if repetitions.len() == 1 { "repetition" } else { "repetitions" };
    html! {
        li {
            a href=(format!("#cell-{}", row.cell)) { "Cell " (row.cell) }
            @for level in results.levels_of(&row.factors) { ", " (level) }
            ": " (name) " " (repetitions.join(", "))
            pre { (why) }
        }
    }
}

fn column(results: &Results, figure: String) -> Column {
    let recorded = results.unit(&figure).unwrap_or(unit::COUNT);
    let values = results.cells.iter().filter_map(|cell| Some(cell.figures.get(&figure)?.0.median.abs()));
    let scale = Scale::of(recorded, values.fold(0.0, f64::max));
    let rated = results.cells.iter().any(|cell| cell.line_rate_bytes_per_second.is_some());
    let of_origin = origins::any(results, &figure);
    Column { of_line_rate: rated && recorded == unit::BYTES_PER_SECOND, of_origin, figure, scale }
}

fn head(results: &Results, columns: &[Column]) -> Vec<String> {
    let mut head = vec!["Cell".to_owned()];
    head.extend(results.plan.factors.iter().map(|factor| factor.name.clone()));
    for column in columns {
        head.push(column.scale.named(&column.figure));
        if column.of_line_rate {
            head.push("of line rate, %".to_owned());
        }
        if column.of_origin {
            head.push("the origin's".to_owned());
        }
    }
    head
}

fn row(results: &Results, cell: &CellMedians, columns: &[Column]) -> Markup {
    html! {
        tr.failure[cell.ok == 0] {
            td { a href=(format!("#cell-{}", cell.cell)) { (cell.cell) } }
            @for factor in &results.plan.factors { td { (cell.factors.get(&factor.name).map_or("", String::as_str)) } }
            @for column in columns { (values(results, cell, column)) }
        }
    }
}

fn values(results: &Results, cell: &CellMedians, column: &Column) -> Markup {
    let spread = cell.figures.get(&column.figure).map(|(spread, _)| *spread);
    html! {
        td.number data-value=[spread.map(|spread| spread.median)] {
            @match spread {
                Some(spread) => (median(cell, spread, &column.scale)),
                None if cell.ok == 0 => "failed",
                None => "–",
            }
        }
        @if column.of_line_rate { td.number { (part(cell, spread)) } }
        @if column.of_origin { td { (origins::beside(results, cell, &column.figure, spread)) } }
    }
}

fn median(cell: &CellMedians, spread: Spread, scale: &Scale) -> Markup {
    html! {
        (scale.number(spread.median))
        @if cell.ok > 1 {
            div.small { (scale.number(spread.min)) " to " (scale.number(spread.max)) ", n = " (cell.ok) }
        }
        @if !cell.failures.is_empty() { div.small { (cell.failures.len()) " failed" } }
    }
}

fn part(cell: &CellMedians, spread: Option<Spread>) -> String {
    let part = spread.and_then(|spread| Some(100.0 * spread.median / cell.line_rate_bytes_per_second?));
    part.map_or("–".to_owned(), |part| Scale::plain("%").number(part))
}
