//! One set of axes with what is in it, drawn by kuva. The only room that knows kuva: it gets a place in pixels and gives
//! back a piece of SVG. Names of axes, levels and the key are written around it by the frame.

use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::annotations::ReferenceLine;
use kuva::plot::line::LineStyle;
use kuva::plot::{BarPlot, LinePlot, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use kuva::render::theme::Theme;

use super::axis::{Axis, Kind};
use super::data::{Bar, Bars, ChartForm, ChartLine, ChartPoint, Panel, Reference};
use super::style;

/// Letters of ticks, in pixels.
pub const TICK_SIZE: f64 = 12.0;

/// Where a plot goes, in pixels: the whole, and the margins around the axes.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Of the whole.
    pub width: f64,
    /// Of the whole.
    pub height: f64,
    /// For the labels of the vertical axis.
    pub left: f64,
    /// So that the last label is not cut.
    pub right: f64,
    /// So that the highest label is not cut.
    pub top: f64,
    /// For the labels of the horizontal axis.
    pub bottom: f64,
}

/// Lines over axes. `labelled` says whether the horizontal axis writes its numbers here.
pub fn lines(panel: &Panel, x: &Axis, place: &Place, labelled: bool, id: &str) -> String {
    let of_form = |form: ChartForm| panel.lines.iter().filter(move |line| line.form == form);
    let mut plots: Vec<Plot> =
        of_form(ChartForm::Plain).chain(of_form(ChartForm::Marked)).flat_map(line).collect();
    plots.extend(of_form(ChartForm::Marked).chain(of_form(ChartForm::Points)).filter_map(markers));
    let layout = layout(place, x, &panel.y).with_x_tick_format(format(x, labelled));
    let layout = layout.with_y_tick_format(format(&panel.y, true));
    draw(
        plots,
        panel.references.iter().fold(layout, |layout, at| layout.with_reference_line(reference(at, false))),
        id,
    )
}

/// Lying bars, one to a row of the place, the first row on top; a row without a bar is left free for text.
pub fn bars(bars: &Bars, rows: &[Option<&Bar>], place: &Place, id: &str) -> String {
    let mut plot = BarPlot::new().with_horizontal(true).with_width(0.7).with_error_color("var(--ink)");
    let mut errors = Vec::new();
    for row in rows.iter().rev() {
        let bar = row.and_then(|bar| Some((bar, bar.value?)));
        plot = plot.with_group("", bar.map(|(bar, value)| (value, style::colour(bar.style))));
        errors.extend(bar.map(|(bar, value)| arms(value, bar.spread).unwrap_or((0.0, 0.0))));
    }
    let plot = match rows.iter().flatten().any(|bar| bar.spread.is_some()) {
        true => plot.with_asymmetric_error(errors).with_error_cap_width(0.6),
        false => plot,
    };
    let count = rows.len() as f64;
    let nothing = Axis { from: 0.5, to: count + 0.5, ..Axis::levels("", Vec::new()) };
    let layout = layout(place, &bars.axis, &nothing)
        .with_show_grid(false)
        .with_x_tick_format(format(&bars.axis, true));
    let layout = layout.with_y_tick_format(TickFormat::Custom(Arc::new(|_| String::new())));
    let layout = match &bars.reference {
        Some(at) => layout.with_reference_line(reference(at, true)),
        None => layout,
    };
    draw(vec![plot.into()], layout, id)
}

/// The pieces of a line between its gaps.
fn line(line: &ChartLine) -> impl Iterator<Item = Plot> + '_ {
    let pieces = line.points.split(|point| point.y.is_none()).filter(|piece| !piece.is_empty());
    pieces.map(|piece| {
        let at = |point: &ChartPoint| (point.x, point.y.unwrap_or_default());
        let mut plot = LinePlot::new().with_data(piece.iter().map(at)).with_color(style::colour(line.style));
        let spreads = |point: &ChartPoint| point.y.and_then(|y| arms(y, point.spread)).unwrap_or((0.0, 0.0));
        if piece.iter().any(|point| point.spread.is_some()) {
            plot = plot.with_y_err_asymmetric(piece.iter().map(spreads));
        }
        let dash = style::dash(line.style);
        let style = if dash.is_empty() { LineStyle::Solid } else { LineStyle::Custom(dash.to_owned()) };
        plot.with_line_style(style)
            .with_stroke_width(if line.form == ChartForm::Marked { 2.0 } else { 1.6 })
            .into()
    })
}

fn markers(line: &ChartLine) -> Option<Plot> {
    let points: Vec<&ChartPoint> = line.points.iter().filter(|point| point.y.is_some()).collect();
    let (marker, size) = match line.form {
        ChartForm::Points => (style::open_marker(line.style), 8.0),
        ChartForm::Marked | ChartForm::Plain => (style::marker(line.style), 4.5),
    };
    let plot = ScatterPlot::new()
        .with_data(points.iter().map(|point| (point.x, point.y.unwrap_or_default())))
        .with_color(style::colour(line.style))
        .with_marker(marker)
        .with_size(size)
        .with_tooltips()
        .with_tooltip_labels(points.iter().map(|point| point.says.clone()));
    (!points.is_empty()).then(|| plot.into())
}

/// How far the least and the most are from a value.
fn arms(value: f64, spread: Option<(f64, f64)>) -> Option<(f64, f64)> {
    spread.map(|(least, most)| ((value - least).max(0.0), (most - value).max(0.0)))
}

fn reference(at: &Reference, upright: bool) -> ReferenceLine {
    let line = if upright { ReferenceLine::vertical(at.y) } else { ReferenceLine::horizontal(at.y) };
    line.with_color("var(--reference)").with_stroke_width(1.5).with_dasharray(REFERENCE_DASH)
}

/// The dash of lines to compare with.
pub const REFERENCE_DASH: &str = "1 3";

fn layout(place: &Place, x: &Axis, y: &Axis) -> Layout {
    let layout = Layout::new((x.from, x.to), (y.from, y.to))
        .with_width(place.width)
        .with_height(place.height)
        .with_force_margins(place.left, place.right)
        .with_force_margins_y(place.top, place.bottom)
        .with_x_axis_min(x.from)
        .with_x_axis_max(x.to)
        .with_y_axis_min(y.from)
        .with_y_axis_max(y.to)
        .with_tick_size(TICK_SIZE as u32)
        .with_theme(theme());
    let layout = match x.kind {
        Kind::Linear(step) => layout.with_x_tick_step(step),
        Kind::Levels(_) => layout.with_x_tick_step(f64::INFINITY),
        Kind::Logarithmic(_) | Kind::Percentiles => layout.with_log_x(),
    };
    match y.kind {
        Kind::Linear(step) => layout.with_y_tick_step(step),
        Kind::Levels(_) => layout.with_y_tick_step(f64::INFINITY),
        Kind::Logarithmic(_) | Kind::Percentiles => layout.with_log_y(),
    }
}

fn format(axis: &Axis, labelled: bool) -> TickFormat {
    let axis = axis.clone();
    TickFormat::Custom(Arc::new(move |value| if labelled { axis.label(value) } else { String::new() }))
}

fn theme() -> Theme {
    Theme {
        background: "none".to_owned(),
        axis_color: "var(--soft)".to_owned(),
        grid_color: "var(--line)".to_owned(),
        tick_color: "var(--soft)".to_owned(),
        text_color: "var(--ink)".to_owned(),
        ..Theme::light()
    }
}

/// The inside of kuva's SVG.
fn draw(plots: Vec<Plot>, layout: Layout, id: &str) -> String {
    let svg = SvgBackend::default().render_scene(&render_multiple(plots, layout));
    let start = svg.find('>').map_or(0, |end| end + 1);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    format!("<g fill=\"var(--ink)\">{}</g>", own_names(&svg[start..end], id))
}

/// kuva numbers the areas that it cuts off by a counter of the process. Here they are named after the figure, so that
/// they are the only ones of their page, and the same when it is written again.
fn own_names(svg: &str, id: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut parts = svg.split(CUT_OFF);
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len()));
        let index = seen.iter().position(|known| *known == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        named.push_str(&format!("{id}-clip-{index}{rest}"));
    }
    named
}

/// What the names of areas begin with.
const CUT_OFF: &str = "kuva-clip-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_figures_own_whatever_was_drawn_before() {
        let svg = |first: u32| {
            format!("<a id=\"kuva-clip-{first}\"/><b c=\"url(#kuva-clip-{first})\"/>kuva-clip-{}", first + 1)
        };
        let wanted = "<a id=\"x-clip-0\"/><b c=\"url(#x-clip-0)\"/>x-clip-1";
        for first in [0, 9, 123] {
            assert_eq!(own_names(&svg(first), "x"), wanted);
        }
    }
}
