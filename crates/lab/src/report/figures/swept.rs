//! A figure against the swept factor: a line for each level of another, the spread as whiskers, the line rate and the
//! origin's figures beside them.

use super::super::chart::{Axis, Chart, ChartContent, ChartForm, ChartLine, ChartPoint, Panel, Reference};
use super::super::results::Results;
use super::super::units::Scale;
use super::FigureTable;
use super::grouping::{CellGroup, groups};
use super::named::{bound, origin, said, spread, whiskers, worded};
use super::position::positions;
use super::sketch::Sketch;
use crate::plan::FigureSpec;
use crate::record::CellMedians;

/// Lines in one panel; more make a second one.
const LINES_OF_PANEL: usize = 7;
/// Panels; lines beyond them are in the table only.
const PANELS: usize = 4;

/// If the largest is so many times the least, the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 300.0;

/// What all parts of the figure look up.
struct Sweep<'a> {
    results: &'a Results,
    figure: &'a str,
    factor: &'a str,
    unit: &'a str,
    levels: Vec<String>,
    at: Vec<f64>,
    groups: Vec<CellGroup<'a>>,
}

/// Draws it.
pub fn sketch(results: &Results, spec: &FigureSpec) -> Result<Sketch, String> {
    let sweep = Sweep::of(results, spec)?;
    let mut notes = Vec::new();
    let (mut lines, mut key) = sweep.lines();
    if lines.len() > LINES_OF_PANEL * PANELS {
        notes.push(format!("{} more lines are in the table only.", lines.len() - LINES_OF_PANEL * PANELS));
        lines.truncate(LINES_OF_PANEL * PANELS);
    }
    let (references, bounds) = sweep.bounds(&mut key);
    let mut panels: Vec<Vec<ChartLine>> = lines.chunks(LINES_OF_PANEL).map(<[ChartLine]>::to_vec).collect();
    for (panel, groups) in panels.iter_mut().zip(sweep.groups.chunks(LINES_OF_PANEL)) {
        panel.extend(bounds.iter().cloned().chain(sweep.origins(groups, &mut key)));
    }
    let y = axis(&worded(sweep.figure), sweep.unit, &panels, &references);
    let table = sweep.table(&y.scale);
    let panel = |lines| Panel { y: y.clone(), lines, references: references.clone() };
    let panels = panels.into_iter().map(panel).collect();
    let levels = sweep.at.iter().copied().zip(sweep.levels.iter().cloned()).collect();
    let content = ChartContent::Lines { x: Axis::levels(sweep.factor, levels), panels, key };
    let chart = Chart { title: sweep.title(), description: sweep.description(&y.scale), content };
    Ok(Sketch { chart, table, notes })
}

/// From zero; logarithmic where the values are so far apart that the small ones would all lie on the ground.
fn axis(name: &str, unit: &str, panels: &[Vec<ChartLine>], references: &[Reference]) -> Axis {
    let points = || panels.iter().flatten().flat_map(|line| &line.points);
    let values = || points().filter_map(|point| point.y);
    let tops = points().filter_map(|point| Some(point.spread?.1));
    let most = values().chain(tops).chain(references.iter().map(|reference| reference.y)).fold(0.0, f64::max);
    let feet = points().filter_map(|point| Some(point.spread?.0));
    let least = values().chain(feet).fold(f64::INFINITY, f64::min);
    if least > 0.0 && most / least > LOGARITHMIC_FROM {
        Axis::logarithmic(name, unit, least, most)
    } else {
        Axis::from_zero(name, unit, most)
    }
}

/// How many levels of the swept factor were measured.
pub fn levels(results: &Results, spec: &FigureSpec) -> usize {
    let cells: Vec<&CellMedians> = results.cells_with(&spec.cells).collect();
    spec.x.as_ref().map_or(0, |factor| results.levels_in(factor, &cells).len())
}

impl<'a> Sweep<'a> {
    fn of(results: &'a Results, spec: &'a FigureSpec) -> Result<Self, String> {
        let (Some(factor), Some(figure)) = (spec.x.as_deref(), spec.y.as_deref()) else {
            return Err("The plan does not say what is swept.".to_owned());
        };
        let unit = results.unit(figure).ok_or("Nothing was measured for this figure.")?;
        let groups = groups(results, spec);
        let cells: Vec<&CellMedians> = groups.iter().flat_map(|group| &group.cells).copied().collect();
        if !cells.iter().any(|cell| cell.figures.contains_key(figure)) {
            return Err("Nothing was measured for this figure.".to_owned());
        }
        let levels = results.levels_in(factor, &cells);
        let at = positions(&levels);
        Ok(Self { results, figure, factor, unit, levels, at, groups })
    }

    /// A value at each level; none where nothing was measured.
    fn along(
        &self,
        group: &CellGroup<'a>,
        value: impl Fn(&'a CellMedians) -> Option<ChartPoint>,
    ) -> Vec<ChartPoint> {
        let cell_at = |level: &String| {
            group.cells.iter().find(|cell| cell.factors.get(self.factor) == Some(level)).copied()
        };
        let point = |(level, x): (&String, &f64)| {
            let none = ChartPoint { x: *x, y: None, spread: None, says: String::new() };
            cell_at(level).and_then(&value).map_or(none, |point| ChartPoint { x: *x, ..point })
        };
        self.levels.iter().zip(&self.at).map(point).collect()
    }

    fn lines(&self) -> (Vec<ChartLine>, Vec<String>) {
        let lines = self.groups.iter().enumerate().map(|(style, group)| {
            let value = |cell: &CellMedians| {
                let spread = spread(cell, self.figure)?;
                let says = self.says(group, cell, &said(cell, spread, &Scale::of(self.unit, spread.median)));
                Some(ChartPoint { x: 0.0, y: Some(spread.median), spread: whiskers(cell, spread), says })
            };
            ChartLine { style, points: self.along(group, value), form: ChartForm::Marked }
        });
        let name = |group: &CellGroup| {
            if group.name.is_empty() { self.figure.to_owned() } else { group.name.clone() }
        };
        (lines.collect(), self.groups.iter().map(name).collect())
    }

    fn says(&self, group: &CellGroup, cell: &CellMedians, value: &str) -> String {
        let level = cell.factors.get(self.factor).map_or("", String::as_str);
        let line = if group.name.is_empty() { String::new() } else { format!("{}, ", group.name) };
        format!("{line}{} {level}: {value}", self.factor)
    }

    /// What the path itself allows: one height if it is the same everywhere, else a line.
    fn bounds(&self, key: &mut Vec<String>) -> (Vec<Reference>, Vec<ChartLine>) {
        let Some(bound) = bound(self.unit) else { return (Vec::new(), Vec::new()) };
        let cells = self.groups.iter().flat_map(|group| &group.cells);
        let known: Vec<f64> = cells.filter_map(|cell| (bound.of)(cell)).collect();
        let Some(first) = known.first().copied() else { return (Vec::new(), Vec::new()) };
        if known.iter().all(|value| (value / first - 1.0).abs() < 1e-3) {
            let label = format!("{}, {}", bound.name, Scale::of(self.unit, first).text(first));
            return (vec![Reference { y: first, label }], Vec::new());
        }
        let value = |cell: &CellMedians| {
            (bound.of)(cell).map(|value| ChartPoint {
                x: 0.0,
                y: Some(value),
                spread: None,
                says: String::new(),
            })
        };
        let line = ChartLine {
            style: key.len(),
            points: self.along(&self.groups[0], value),
            form: ChartForm::Plain,
        };
        key.push(bound.name.to_owned());
        (Vec::new(), vec![line])
    }

    /// The origin's own figures: points, which no line connects.
    fn origins(&self, groups: &[CellGroup<'a>], key: &mut Vec<String>) -> Vec<ChartLine> {
        let mut lines: Vec<(String, ChartLine)> = Vec::new();
        for group in groups {
            for cell in &group.cells {
                let Some((value, source)) = origin(self.results, cell, self.figure) else { continue };
                let level = cell.factors.get(self.factor);
                let Some(index) = self.levels.iter().position(|known| Some(known) == level) else { continue };
                let says = self.says(
                    group,
                    cell,
                    &format!("{} ({source})", Scale::of(self.unit, value).text(value)),
                );
                let gap = ChartPoint { x: self.at[index], y: None, spread: None, says: String::new() };
                let point = ChartPoint { y: Some(value), says, ..gap.clone() };
                match lines.iter_mut().find(|(known, _)| known == source) {
                    Some((_, line)) => line.points.extend([gap, point]),
                    None => {
                        let line =
                            ChartLine { style: key.len(), points: vec![point], form: ChartForm::Points };
                        key.push(format!("origin: {source}"));
                        lines.push((source.to_owned(), line));
                    }
                }
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    fn title(&self) -> String {
        format!("{} against {}", worded(self.figure), self.factor)
    }

    /// What a listener needs: how many lines, and where each begins and ends.
    fn description(&self, scale: &Scale) -> String {
        let ends = |group: &CellGroup<'a>| {
            let measured = |level: &&String| {
                let cell = group.cells.iter().find(|cell| cell.factors.get(self.factor) == Some(level))?;
                Some(format!("{} at {level}", scale.text(spread(cell, self.figure)?.median)))
            };
            let first = self.levels.iter().find_map(|level| measured(&level))?;
            let last = self.levels.iter().rev().find_map(|level| measured(&level))?;
            let name = if group.name.is_empty() { self.figure } else { group.name.as_str() };
            Some(format!("{name}: from {first} to {last}."))
        };
        let lines: Vec<String> = self.groups.iter().filter_map(ends).take(LINES_OF_PANEL).collect();
        format!("A line chart. {}", lines.join(" "))
    }

    fn table(&self, scale: &Scale) -> FigureTable {
        let name =
            |group: &CellGroup| if group.name.is_empty() { self.figure } else { &group.name }.to_owned();
        let head = std::iter::once(self.factor.to_owned());
        let head = head.chain(self.groups.iter().map(|group| scale.named(&name(group)))).collect();
        let value = |group: &CellGroup<'a>, level: &String| {
            let cell = group.cells.iter().find(|cell| cell.factors.get(self.factor) == Some(level));
            let text = cell.and_then(|cell| {
                let spread = spread(cell, self.figure)?;
                Some(match whiskers(cell, spread) {
                    Some((least, most)) => {
                        format!(
                            "{} ({} to {})",
                            scale.number(spread.median),
                            scale.number(least),
                            scale.number(most)
                        )
                    }
                    None => scale.number(spread.median),
                })
            });
            text.unwrap_or_else(|| "–".to_owned())
        };
        let row = |level: &String| {
            std::iter::once(level.clone())
                .chain(self.groups.iter().map(|group| value(group, level)))
                .collect()
        };
        FigureTable { head, rows: self.levels.iter().map(row).collect() }
    }
}
