//! A bar for each cell, in groups by the factor along the axis.

use super::super::chart::{Axis, Bar, BarGroup, Bars, Chart, ChartContent, Reference};
use super::super::results::Results;
use super::super::units::Scale;
use super::FigureTable;
use super::grouping::{CellGroup, groups};
use super::named::{bound, said, spread, whiskers, worded};
use super::sketch::Sketch;
use crate::plan::FigureSpec;
use crate::record::CellMedians;

/// Bars that one can still compare; more are in the table only.
const BARS: usize = 40;

/// Draws it.
pub fn sketch(results: &Results, spec: &FigureSpec) -> Result<Sketch, String> {
    let figure = spec.y.as_deref().ok_or("The plan does not say what is shown.")?;
    let unit = results.unit(figure).ok_or("Nothing was measured for this figure.")?;
    let lines = groups(results, spec);
    let cells: Vec<&CellMedians> = lines.iter().flat_map(|line| &line.cells).copied().collect();
    let most =
        cells.iter().filter_map(|cell| spread(cell, figure)).map(|spread| spread.max).fold(0.0, f64::max);
    if !cells.iter().any(|cell| cell.figures.contains_key(figure)) {
        return Err("Nothing was measured for this figure.".to_owned());
    }
    let reference = reference(&cells, unit);
    let axis = Axis::from_zero(&worded(figure), unit, reference.as_ref().map_or(most, |at| most.max(at.y)));
    let shown = Shown { figure, scale: axis.scale.clone(), lines: &lines };
    let mut groups = shown.groups(results, spec, &cells);
    let notes = cut(&mut groups);
    let title = match &spec.x {
        Some(factor) => format!("{} by {factor}", worded(figure)),
        None => worded(figure),
    };
    let description = format!("A bar chart. {}", described(&groups));
    let table = shown.table(spec, &cells);
    let content = ChartContent::Bars(Bars { axis, groups, reference });
    Ok(Sketch { chart: Chart { title, description, content }, table, notes })
}

struct Shown<'a> {
    figure: &'a str,
    scale: Scale,
    lines: &'a [CellGroup<'a>],
}

impl Shown<'_> {
    /// A group for each level along the axis; one without a name if there is no axis.
    fn groups(&self, results: &Results, spec: &FigureSpec, cells: &[&CellMedians]) -> Vec<BarGroup> {
        let Some(factor) = &spec.x else {
            return vec![BarGroup { label: String::new(), bars: self.bars(|_| true) }];
        };
        let group = |level: String| {
            let bars = self.bars(|cell| cell.factors.get(factor) == Some(&level));
            BarGroup { label: format!("{factor}: {level}"), bars }
        };
        results.levels_in(factor, cells).into_iter().map(group).collect()
    }

    fn bars(&self, wanted: impl Fn(&CellMedians) -> bool) -> Vec<Bar> {
        let of_line = |(style, line): (usize, &CellGroup)| {
            let cells: Vec<&CellMedians> = line.cells.iter().copied().filter(|cell| wanted(cell)).collect();
            cells.into_iter().map(|cell| self.bar(style, &line.name, cell)).collect::<Vec<_>>()
        };
        self.lines.iter().enumerate().flat_map(of_line).collect()
    }

    fn bar(&self, style: usize, name: &str, cell: &CellMedians) -> Bar {
        let spread = spread(cell, self.figure);
        let value = spread.map_or_else(|| missing(cell).to_owned(), |spread| said(cell, spread, &self.scale));
        let says = if name.is_empty() { value } else { format!("{name}: {value}") };
        let whiskers = spread.and_then(|spread| whiskers(cell, spread));
        Bar { style, value: spread.map(|spread| spread.median), spread: whiskers, says }
    }

    fn table(&self, spec: &FigureSpec, cells: &[&CellMedians]) -> FigureTable {
        let names: Vec<&String> = cells.first().map_or(Vec::new(), |cell| cell.factors.keys().collect());
        let named: Vec<&String> = names.into_iter().filter(|name| !spec.cells.contains_key(*name)).collect();
        let columns = ["median", "least", "most"].map(|column| self.scale.named(column));
        let head = named.iter().map(|name| (*name).clone()).chain(columns).collect();
        let row = |cell: &&CellMedians| {
            let spread = spread(cell, self.figure);
            let number =
                |value: Option<f64>| value.map_or("–".to_owned(), |value| self.scale.number(value));
            let values = [spread.map(|s| s.median), spread.map(|s| s.min), spread.map(|s| s.max)].map(number);
            let levels = named.iter().map(|name| cell.factors.get(*name).cloned().unwrap_or_default());
            levels.chain(values).collect()
        };
        FigureTable { head, rows: cells.iter().map(row).collect() }
    }
}

fn missing(cell: &CellMedians) -> &'static str {
    if cell.failures.is_empty() { "not measured" } else { "failed" }
}

/// What the path allows, where it is the same for all.
fn reference(cells: &[&CellMedians], unit: &str) -> Option<Reference> {
    let bound = bound(unit)?;
    let known: Vec<f64> = cells.iter().filter_map(|cell| (bound.of)(cell)).collect();
    let first = *known.first()?;
    let same = known.iter().all(|value| (value / first - 1.0).abs() < 1e-3);
    same.then(|| Reference {
        y: first,
        label: format!("{}, {}", bound.name, Scale::of(unit, first).text(first)),
    })
}

fn cut(groups: &mut Vec<BarGroup>) -> Vec<String> {
    let all: usize = groups.iter().map(|group| group.bars.len()).sum();
    let mut left = BARS;
    for group in groups.iter_mut() {
        group.bars.truncate(left);
        left -= group.bars.len();
    }
    groups.retain(|group| !group.bars.is_empty());
    if all > BARS { vec![format!("{} more bars are in the table only.", all - BARS)] } else { Vec::new() }
}

fn described(groups: &[BarGroup]) -> String {
    let of_group = |group: &BarGroup| {
        let bars: Vec<&str> = group.bars.iter().map(|bar| bar.says.as_str()).collect();
        let name = if group.label.is_empty() { String::new() } else { format!("{}: ", group.label) };
        format!("{name}{}.", bars.join("; "))
    };
    groups.iter().take(6).map(of_group).collect::<Vec<_>>().join(" ")
}
