//! The table of medians, as text.

use std::collections::BTreeMap;

use super::medians::CellMedians;
use super::{Row, medians, shown};
use crate::plan::Plan;

/// The figure that a plan is about: of its first claim, its first figure, its first origin figure.
pub fn main_figure(plan: &Plan) -> Option<String> {
    columns(plan).into_iter().next()
}

/// All cells: their levels, each figure that the plan names (median, and least to most), and the origin's beside it.
pub fn table(plan: &Plan, rows: &[Row]) -> String {
    let figures = columns(plan);
    let factors: Vec<&String> = plan.factors.iter().map(|factor| &factor.name).collect();
    let has_origin = !plan.origin_figures.is_empty();
    let mut lines = vec![heading(&factors, &figures, has_origin)];
    for cell in medians(rows) {
        let mut line = vec![cell.cell.to_string()];
        line.extend(factors.iter().map(|factor| cell.factors.get(*factor).cloned().unwrap_or_default()));
        line.extend(figures.iter().map(|figure| measured(&cell, figure)));
        if has_origin {
            line.push(origin(plan, &cell.factors));
        }
        line.push(remarks(&cell));
        lines.push(line);
    }
    aligned(&lines)
}

/// What failed, and whether the machine was busy.
fn remarks(cell: &CellMedians) -> String {
    let failed = cell
        .failures
        .first()
        .map(|why| format!("{} failed: {}", cell.failures.len(), why.chars().take(60).collect::<String>()));
    let disturbed = cell
        .disturbed
        .map(|load| format!("other programs and kernel threads took {} of the CPUs", load.percent()));
    failed.into_iter().chain(disturbed).collect::<Vec<_>>().join("; ")
}

fn heading(factors: &[&String], figures: &[String], has_origin: bool) -> Vec<String> {
    let mut line = vec!["cell".to_owned()];
    line.extend(factors.iter().map(|factor| (*factor).clone()));
    line.extend(figures.iter().cloned());
    line.extend(has_origin.then(|| "origin".to_owned()));
    line.push(String::new());
    line
}

/// Each figure once, in the order in which the plan names them.
fn columns(plan: &Plan) -> Vec<String> {
    let claims = plan.claims.iter().map(|claim| claim.figure.clone());
    let figures = plan.figures.iter().filter_map(|figure| figure.y.clone());
    let origins = plan.origin_figures.iter().map(|figure| figure.figure.clone());
    let mut names = Vec::new();
    for name in claims.chain(figures).chain(origins) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn measured(cell: &CellMedians, figure: &str) -> String {
    let Some((spread, unit)) = cell.figures.get(figure) else { return "-".to_owned() };
    let median = shown(spread.median, unit);
    if spread.min == spread.max {
        return median;
    }
    let bare = |value| shown(value, unit).split(' ').next().unwrap_or_default().to_owned();
    format!("{median} ({}..{})", bare(spread.min), bare(spread.max))
}

fn origin(plan: &Plan, factors: &BTreeMap<String, String>) -> String {
    let is_of = |levels: &BTreeMap<String, String>| {
        levels.iter().all(|(name, level)| factors.get(name) == Some(level))
    };
    let beside = plan.origin_figures.iter().filter(|figure| is_of(&figure.cells));
    let listed: Vec<String> = beside.map(|figure| format!("{} {}", figure.value, figure.unit)).collect();
    listed.join(", ")
}

/// Columns as wide as their widest entry.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(entry, &width)| format!("{entry:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::super::{Outcome, RowFigure, unit};
    use super::*;
    use crate::plan::testing::plan;

    #[test]
    fn medians_stand_beside_the_origin() {
        let levels = |buffer: &str| {
            [("rtt", "30ms"), ("buffer", buffer)]
                .map(|(name, level)| (name.to_owned(), level.to_owned()))
                .into()
        };
        let measured = |repetition, value| Row {
            factors: levels("fixed"),
            figures: [("throughput".to_owned(), RowFigure::new(value, unit::BYTES_PER_SECOND))].into(),
            ..row(3, repetition)
        };
        let failed = Row {
            factors: levels("the kernel's"),
            outcome: Outcome::Failed("server: ended".to_owned()),
            ..row(4, 1)
        };
        let text = table(&plan(), &[measured(1, 41e6), measured(2, 43e6), measured(3, 46e6), failed]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "cell  rtt   buffer        throughput              origin");
        assert_eq!(lines[1], "3     30ms  fixed         43.0 MB/s (41.0..46.0)  43.3 MB/s");
        assert_eq!(
            lines[2],
            "4     30ms  the kernel's  -                                  1 failed: server: ended"
        );
    }
}
