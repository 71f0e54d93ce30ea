//! How long so many calls took: percentiles on an axis where each nine is as wide as the one before, as HDR plots are.

use std::collections::BTreeMap;

use super::super::chart::{Axis, Chart, ChartContent, ChartForm, ChartLine, ChartPoint, Kind, Panel};
use super::super::results::Results;
use super::super::units::Scale;
use super::FigureTable;
use super::grouping::{CellGroup, groups};
use super::sketch::Sketch;
use crate::plan::FigureSpec;
use crate::record::{CellMedians, unit};
use howdah_workload::measure::Spread;

/// Lines that a reader can distinguish in a panel; more make a second one.
const LINES_OF_PANEL: usize = 7;
/// Panels; lines beyond them are in the table only.
const PANELS: usize = 3;
/// So many points still have a marker each.
const MARKED: usize = 24;
/// The largest of all stands where this percentile would.
const LAST: f64 = 0.999_99;

/// So much wider is the axis than it must be, so that the first and the last marker are whole.
const RIGHT_OF_LAST: f64 = 1.15;

/// One line: percentiles of one client, in one cell, over its repetitions.
struct Curve {
    name: String,
    /// Fraction and seconds, ascending.
    points: Vec<(f64, f64)>,
}

/// Draws it.
pub fn sketch(results: &Results, spec: &FigureSpec) -> Result<Sketch, String> {
    let groups = groups(results, &FigureSpec { x: None, ..spec.clone() })
        .iter()
        .flat_map(|group| curves(results, group, spec.y.as_deref()))
        .collect::<Vec<Curve>>();
    if groups.is_empty() {
        return Err("No latencies were measured for this figure.".to_owned());
    }
    let mut notes = Vec::new();
    if groups.len() > LINES_OF_PANEL * PANELS {
        notes.push(format!("{} more lines are in the table only.", groups.len() - LINES_OF_PANEL * PANELS));
    }
    let shown = &groups[..groups.len().min(LINES_OF_PANEL * PANELS)];
    let points = || shown.iter().flat_map(|curve| &curve.points);
    let (least, most) =
        points().fold((f64::INFINITY, 0.0_f64), |(least, most), (_, y)| (least.min(*y), most.max(*y)));
    let y = Axis::logarithmic("Latency", unit::SECONDS, least.max(1e-9), most.max(2e-9));
    let furthest = points().map(|(fraction, _)| position(*fraction)).fold(10.0, f64::max);
    let x = Axis {
        kind: Kind::Percentiles,
        from: 1.0 / RIGHT_OF_LAST,
        to: furthest * RIGHT_OF_LAST,
        ..Axis::logarithmic("", unit::COUNT, 1.0, furthest)
    };
    let x = Axis { name: "Share of calls up to this latency".to_owned(), ..x };
    let mut lines = shown.iter().enumerate().map(|(style, curve)| line(style, curve)).collect::<Vec<_>>();
    let mut panels = Vec::new();
    while !lines.is_empty() {
        let rest = lines.split_off(lines.len().min(LINES_OF_PANEL));
        panels.push(Panel { y: y.clone(), lines, references: Vec::new() });
        lines = rest;
    }
    let key = shown.iter().map(|curve| curve.name.clone()).collect();
    let content = ChartContent::Lines { x, panels, key };
    let chart = Chart { title: "Percentiles of latency".to_owned(), description: described(shown), content };
    Ok(Sketch { chart, table: table(&groups, &y.scale), notes })
}

/// The curves of the cells of a group; of one client, or one phase of its work, if the figure names it.
fn curves(results: &Results, group: &CellGroup, figure: Option<&str>) -> Vec<Curve> {
    let wanted = figure.and_then(|figure| figure.rsplit_once('.')).map(|(client, _)| client);
    let of_cell = |cell: &&CellMedians| {
        let mut clients: BTreeMap<&String, Vec<&Vec<(f64, f64)>>> = BTreeMap::new();
        for row in results.rows_of(cell.cell).filter(|row| row.is_ok()) {
            for (client, latencies) in row.latencies.iter().filter(|(_, latencies)| !latencies.is_empty()) {
                clients.entry(client).or_default().push(latencies);
            }
        }
        let alone = clients.len() == 1;
        if !alone
            && let Some(wanted) = wanted
            && clients.keys().any(|client| *client == wanted)
        {
            clients.retain(|client, _| *client == wanted);
        }
        let several = clients.len() > 1 || group.name.is_empty();
        let curve = |(client, runs): (&String, Vec<&Vec<(f64, f64)>>)| {
            let name = match (several, group.name.as_str()) {
                (true, "") => client.clone(),
                (true, levels) => format!("{levels} · {client}"),
                (false, levels) => levels.to_owned(),
            };
            Curve { name, points: medians(&runs) }
        };
        clients.into_iter().map(curve).collect::<Vec<_>>()
    };
    group.cells.iter().flat_map(of_cell).collect()
}

/// The median over repetitions at each percentile that the first one has.
fn medians(runs: &[&Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let at =
        |fraction: f64| runs.iter().filter_map(move |run| run.iter().find(|(known, _)| *known == fraction));
    let median = |(fraction, _): &(f64, f64)| {
        let seconds = Spread::of(at(*fraction).map(|(_, seconds)| *seconds))?.median;
        (seconds > 0.0).then_some((*fraction, seconds))
    };
    let mut points: Vec<(f64, f64)> = runs[0].iter().filter_map(median).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// Where a percentile stands.
fn position(fraction: f64) -> f64 {
    1.0 / (1.0 - fraction.clamp(0.0, LAST))
}

fn line(style: usize, curve: &Curve) -> ChartLine {
    let point = |(fraction, seconds): &(f64, f64)| {
        let says = format!(
            "{}, {} %: {}",
            curve.name,
            percent(*fraction),
            Scale::of(unit::SECONDS, *seconds).text(*seconds)
        );
        ChartPoint { x: position(*fraction), y: Some(*seconds), spread: None, says }
    };
    let form = if curve.points.len() <= MARKED { ChartForm::Marked } else { ChartForm::Plain };
    ChartLine { style, points: curve.points.iter().map(point).collect(), form }
}

fn percent(fraction: f64) -> String {
    let text = format!("{:.4}", fraction * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn described(curves: &[Curve]) -> String {
    let of_curve = |curve: &Curve| {
        let last = curve.points.last()?;
        let middle =
            curve.points.iter().min_by(|one, other| (one.0 - 0.5).abs().total_cmp(&(other.0 - 0.5).abs()))?;
        let text = |point: &(f64, f64)| {
            format!("{} at {} %", Scale::of(unit::SECONDS, point.1).text(point.1), percent(point.0))
        };
        Some(format!("{}: {}, {}.", curve.name, text(middle), text(last)))
    };
    format!("A line chart. {}", curves.iter().filter_map(of_curve).collect::<Vec<_>>().join(" "))
}

fn table(curves: &[Curve], scale: &Scale) -> FigureTable {
    let mut fractions: Vec<f64> =
        curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0)).collect();
    fractions.sort_by(f64::total_cmp);
    fractions.dedup();
    let head = std::iter::once("share of calls".to_owned());
    let head = head.chain(curves.iter().map(|curve| scale.named(&curve.name))).collect();
    let row = |fraction: &f64| {
        let at = |curve: &Curve| {
            let found = curve.points.iter().find(|point| point.0 == *fraction);
            found.map_or("–".to_owned(), |point| scale.number(point.1))
        };
        std::iter::once(format!("{} %", percent(*fraction))).chain(curves.iter().map(at)).collect()
    };
    FigureTable { head, rows: fractions.iter().map(row).collect() }
}
