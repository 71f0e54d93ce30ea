//! What a connection did over time, in one repetition of one cell: panels with a common time axis, as tcptrace plots.

use super::super::chart::{Axis, Chart, ChartContent, ChartForm, ChartLine, ChartPoint, Panel, standalone};
use super::super::results::{Results, THROUGHPUT};
use super::super::units::Scale;
use super::FigureTable;
use super::named::headed;
use super::sampled::{Trace, lines_of_connection, traces};
use super::sketch::Sketch;
use crate::plan::FigureSpec;
use crate::record::{Row, unit};
use howdah_workload::measure::Spread;

/// Lines in one panel.
const LINES_OF_PANEL: usize = 7;
/// A line has at most twice so many points: the least and the most of each piece, so that no peak is lost.
const PIECES: usize = 350;
/// Rows of the table; the file has all.
const ROWS: usize = 25;
/// What is so many times as large as the next largest has a panel of its own.
const APART: f64 = 15.0;
/// Samples that are so many times as far apart as usual have a gap between them.
const GAP: f64 = 4.0;

/// Draws it.
pub fn sketch(results: &Results, spec: &FigureSpec) -> Result<Sketch, String> {
    let (row, mut notes) = chosen(results, spec)?;
    let name = row.series.as_deref().unwrap_or_default();
    let lines = results
        .directory
        .series(name)
        .map_err(|error| format!("The time series cannot be read: {error:#}"))?;
    let most = (LINES_OF_PANEL / lines_of_connection(&spec.show)).max(1);
    let (traces, more) = traces(&lines, &spec.show, spec.host.as_deref(), most);
    if traces.is_empty() {
        return Err(format!("There is nothing of this in {name}."));
    }
    if more > 0 {
        let connections =
            if more == 1 { "connection, which moved less, is" } else { "connections, which moved less, are" };
        notes.push(format!("{more} more {connections} in {name}."));
    }
    let last = last(&traces);
    let x = Axis::up_to("Time since the clients began", unit::SECONDS, last);
    let panels = panels(&traces);
    let table = table(&traces, last, &x.scale, &panels);
    Ok(Sketch { chart: chart(title(results, spec, row), x, panels, &traces), table, notes })
}

/// Traces that no plan asked for, as a file of its own: SVG. `time` says since when.
pub fn svg_over_time(title: &str, time: &str, traces: &[Trace]) -> String {
    let x = Axis::up_to(time, unit::SECONDS, last(traces));
    standalone(&chart(title.to_owned(), x, panels(traces), traces))
}

fn chart(title: String, x: Axis, panels: Vec<Panel>, traces: &[Trace]) -> Chart {
    let key = traces.iter().map(|trace| trace.name.clone()).collect();
    Chart { title, description: described(traces), content: ChartContent::Lines { x, panels, key } }
}

/// When the last of them ends.
fn last(traces: &[Trace]) -> f64 {
    traces.iter().flat_map(|trace| &trace.points).map(|(at, _)| *at).fold(0.0, f64::max)
}

/// The repetition whose throughput is the median, of the first cell that fits; and what is to be known of that.
fn chosen<'a>(results: &'a Results, spec: &FigureSpec) -> Result<(&'a Row, Vec<String>), String> {
    let sampled = |row: &&Row| row.series.is_some() && row.is_of(&spec.cells);
    let cells: Vec<u32> = {
        let mut cells: Vec<u32> = results.rows.iter().filter(sampled).map(|row| row.cell).collect();
        cells.dedup();
        cells
    };
    let cell = *cells.first().ok_or("No time series was recorded for this figure.")?;
    let rows: Vec<&Row> = results.rows_of(cell).filter(sampled).collect();
    let ended: Vec<&Row> = rows.iter().copied().filter(|row| row.is_ok()).collect();
    let rows = if ended.is_empty() { rows } else { ended };
    let throughput = |row: &Row| row.figures.get(THROUGHPUT).map_or(0.0, |figure| figure.value);
    let median = Spread::of(rows.iter().map(|row| throughput(row))).map_or(0.0, |spread| spread.median);
    let far = |row: &&&Row| (throughput(row) - median).abs();
    let row = rows.iter().min_by(|one, other| far(one).total_cmp(&far(other))).copied();
    let row = row.ok_or("No time series was recorded for this figure.")?;
    let mut notes =
        vec![format!("Cell {cell}, repetition {} of {}.", row.repetition, results.rows_of(cell).count())];
    if cells.len() > 1 {
        notes.push(format!(
            "{} more cells fit this figure; their series are in files next to it.",
            cells.len() - 1
        ));
    }
    if !row.is_ok() {
        notes.push("This repetition failed.".to_owned());
    }
    Ok((row, notes))
}

fn title(results: &Results, spec: &FigureSpec, row: &Row) -> String {
    let levels = results.levels_of(&row.factors);
    match levels.is_empty() {
        true => format!("{} over time", headed(&spec.show.join(", "))),
        false => format!("Over time: {}", levels.join(", ")),
    }
}

/// Traces with the same axis share a panel, unless the small ones would lie flat on the ground in it.
fn panels(traces: &[Trace]) -> Vec<Panel> {
    let mut axes: Vec<&str> = Vec::new();
    for trace in traces {
        if !axes.contains(&trace.axis) {
            axes.push(trace.axis);
        }
    }
    let mut panels = Vec::new();
    for axis in axes {
        let mut of_axis: Vec<(usize, &Trace)> =
            traces.iter().enumerate().filter(|(_, trace)| trace.axis == axis).collect();
        of_axis.sort_by(|(_, one), (_, other)| other.most().total_cmp(&one.most()));
        let together = |one: &(usize, &Trace), next: &(usize, &Trace)| one.1.most() < next.1.most() * APART;
        panels.extend(of_axis.chunk_by(together).map(|chunk| panel(axis, chunk)));
    }
    panels
}

fn panel(axis: &str, traces: &[(usize, &Trace)]) -> Panel {
    let most = traces.iter().map(|(_, trace)| trace.most()).fold(0.0, f64::max);
    let unit = traces.first().map_or("", |(_, trace)| trace.unit);
    let line = |(style, trace): &(usize, &Trace)| ChartLine {
        style: *style,
        points: thinned(&trace.points),
        form: ChartForm::Plain,
    };
    Panel {
        y: Axis::from_zero(axis, unit, most),
        lines: traces.iter().map(line).collect(),
        references: Vec::new(),
    }
}

/// As many points as can be seen, with gaps where nothing was sampled.
fn thinned(points: &[(f64, f64)]) -> Vec<ChartPoint> {
    let steps = points.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let usual = Spread::of(steps).map_or(f64::INFINITY, |spread| spread.median);
    let point = |(x, y): (f64, f64)| ChartPoint { x, y: Some(y), spread: None, says: String::new() };
    let size = points.len().div_ceil(PIECES).max(1);
    let mut thinned: Vec<ChartPoint> = Vec::new();
    for run in points.chunk_by(|one, next| next.0 - one.0 <= usual * GAP) {
        if !thinned.is_empty() {
            thinned.push(ChartPoint { y: None, ..point(run[0]) });
        }
        thinned.extend(run.chunks(size).flat_map(extremes).map(point));
    }
    thinned
}

/// The least and the most of a piece, in the order in which they came; both are one if there is but one.
fn extremes(piece: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_value = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
    let (Some(least), Some(most)) = (piece.iter().min_by(by_value), piece.iter().max_by(by_value)) else {
        return Vec::new();
    };
    let mut both = vec![*least, *most];
    both.sort_by(|one, other| one.0.total_cmp(&other.0));
    both.dedup();
    both
}

fn described(traces: &[Trace]) -> String {
    let of_trace = |trace: &Trace| {
        let values = || trace.points.iter().map(|(_, value)| *value);
        let spread = Spread::of(values())?;
        let scale = Scale::of(trace.unit, spread.max);
        Some(format!(
            "{}: median {}, at most {}.",
            trace.name,
            scale.text(spread.median),
            scale.text(spread.max)
        ))
    };
    format!("Lines over time. {}", traces.iter().filter_map(of_trace).collect::<Vec<_>>().join(" "))
}

/// Evenly chosen moments, each with the latest sample of each trace.
fn table(traces: &[Trace], last: f64, time: &Scale, panels: &[Panel]) -> FigureTable {
    let scale_of = |style: usize, trace: &Trace| {
        let panel = panels.iter().find(|panel| panel.lines.iter().any(|line| line.style == style));
        panel.map_or_else(|| Scale::of(trace.unit, 1.0), |panel| panel.y.scale.clone())
    };
    let scales: Vec<Scale> = traces.iter().enumerate().map(|(style, trace)| scale_of(style, trace)).collect();
    let names = traces.iter().zip(&scales).map(|(trace, scale)| scale.named(&trace.name));
    let longest = traces.iter().map(|trace| trace.points.len()).max().unwrap_or(0);
    let moments = longest.clamp(1, ROWS);
    let row = |index: usize| {
        let now = last * index as f64 / (moments.max(2) - 1) as f64;
        let value = |(trace, scale): (&Trace, &Scale)| {
            let latest = trace.points.iter().rev().find(|(at, _)| *at <= now);
            latest.map_or("–".to_owned(), |(_, value)| scale.number(*value))
        };
        std::iter::once(time.number(now)).chain(traces.iter().zip(&scales).map(value)).collect()
    };
    let head = std::iter::once(time.named("time")).chain(names).collect();
    FigureTable { head, rows: (0..moments).map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(name: &str, axis: &'static str, most: f64) -> Trace {
        let points =
            (0..1000).map(|index| (f64::from(index) * 0.1, most * f64::from(index % 10) / 9.0)).collect();
        Trace { name: name.to_owned(), axis, unit: unit::BYTES, points }
    }

    #[test]
    fn what_is_far_larger_than_the_rest_has_a_panel_of_its_own() {
        let traces = [
            trace("window", "Data", 8e6),
            trace("send buffer", "Data", 5e8),
            trace("flight", "Data", 6e6),
            trace("queue", "Queue of the link", 4e6),
        ];
        let styles = |panel: &Panel| panel.lines.iter().map(|line| line.style).collect::<Vec<_>>();
        let found: Vec<Vec<usize>> = panels(&traces).iter().map(styles).collect();
        assert_eq!(found, [vec![1], vec![0, 2], vec![3]]);
    }

    #[test]
    fn long_series_keep_their_peaks_and_their_gaps() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|index| (f64::from(index) * 0.1, 1.0)).collect();
        points[5_000].1 = 99.0;
        points.drain(7_000..8_000);
        let thinned = thinned(&points);
        assert!(thinned.len() <= 2 * PIECES + 3, "{}", thinned.len());
        assert!(thinned.iter().any(|point| point.y == Some(99.0)));
        assert_eq!(thinned.iter().filter(|point| point.y.is_none()).count(), 1);
        assert!(thinned.windows(2).all(|pair| pair[0].x <= pair[1].x));
    }
}
