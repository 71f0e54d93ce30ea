//! A chart as SVG, for a wide and for a narrow screen, and as a file of its own.

use maud::{Markup, PreEscaped, html};

use super::axis::{Axis, Kind};
use super::bars;
use super::data::{Chart, ChartContent, Panel};
use super::frame::{bold, levels, text};
use super::key::{Entry, key};
use super::labels::{width, wrapped};
use super::plot::{self, Place, TICK_SIZE};
use super::screen::Width;
use super::style::STYLE;

/// Letters of the names of axes.
const NAME_SIZE: f64 = 12.5;
/// Letters of a title in a file of its own.
const TITLE_SIZE: f64 = 15.0;
/// The fonts of a browser's system.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/// The chart to stand in a page; `id` is its own there, and so is all that is derived from it.
pub fn svg(chart: &Chart, width: Width, id: &str) -> Markup {
    let (drawing, height) = drawing(chart, width, 0.0, id);
    let shown = match width {
        Width::Wide => "wide",
        Width::Narrow => "narrow",
    };
    html! { (root(chart, width, height, id, Some(shown), drawing)) }
}

/// The chart as a file of its own: with its title, on a ground, and with colours that every viewer knows.
pub fn standalone(chart: &Chart) -> String {
    let width = Width::Wide;
    let lines = wrapped(&chart.title, TITLE_SIZE, width.pixels() - 20.0, 3);
    let top = 8.0 + 20.0 * lines.len() as f64;
    let (drawing, height) = drawing(chart, width, top, "figure");
    let inside = html! {
        style { (PreEscaped(overrides())) }
        rect x="0" y="0" width=(width.pixels()) height=(height) fill="var(--ground)" {}
        @for (index, line) in lines.iter().enumerate() { (bold(4.0, 18.0 + 20.0 * index as f64, TITLE_SIZE, line)) }
        (drawing)
    };
    let svg = root(chart, width, height, "figure", None, inside).into_string();
    themes().iter().fold(svg, |svg, (name, light, _)| svg.replace(&format!("var(--{name})"), light))
}

fn root(chart: &Chart, width: Width, height: f64, id: &str, class: Option<&str>, inside: Markup) -> Markup {
    let (title, description) = (format!("{id}-title"), format!("{id}-description"));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class=[class] viewBox=(format!("0 0 {} {height:.0}", width.pixels()))
            width=(width.pixels()) height=(format!("{height:.0}")) font-family=(FONTS) role="img"
            aria-labelledby=(format!("{title} {description}")) {
            title id=(title) { (chart.title) }
            desc id=(description) { (chart.description) }
            (inside)
        }
    }
}

fn drawing(chart: &Chart, width: Width, top: f64, id: &str) -> (Markup, f64) {
    match &chart.content {
        ChartContent::Lines { x, panels, key } => {
            let (markup, bottom) = line_panels(x, panels, key, width, top, id);
            (markup, bottom + 6.0)
        }
        ChartContent::Bars(content) => {
            let (markup, height) = bars::draw(content, width, top, id);
            (markup, top + height + 6.0)
        }
    }
}

/// Panels above each other on one horizontal axis, its name, and the key; and where they end.
fn line_panels(
    x: &Axis,
    panels: &[Panel],
    names: &[String],
    shape: Width,
    top: f64,
    id: &str,
) -> (Markup, f64) {
    let widest = |panel: &Panel| width(&panel.y.widest_label(), TICK_SIZE);
    let left = panels.iter().map(widest).fold(0.0, f64::max) + 14.0;
    let mut parts = Vec::new();
    let mut y = top;
    let mut place = Place { width: shape.pixels(), height: 0.0, left, right: 22.0, top: 8.0, bottom: 8.0 };
    for (index, panel) in panels.iter().enumerate() {
        let last = index + 1 == panels.len();
        place.bottom = if last { 24.0 } else { 8.0 };
        place.height = shape.panel_height(panels.len()) + place.top + place.bottom;
        let inside = plot::lines(panel, x, &place, last, &format!("{id}-{index}"));
        parts.push(html! {
            (text(0.0, y + 13.0, NAME_SIZE, "start", &panel.y.name))
            g transform=(format!("translate(0 {})", y + 18.0)) { (PreEscaped(inside)) }
        });
        y += 18.0 + place.height;
    }
    if let Kind::Levels(labels) = &x.kind {
        let (labels, height) = levels(x, labels, &place, y - place.bottom);
        y += height - place.bottom;
        parts.push(labels);
    }
    parts.push(text(left + (place.width - left - place.right) / 2.0, y + 12.0, NAME_SIZE, "middle", &x.name));
    let (key, height) = key(&entries(panels, names), y + 22.0, place.width);
    parts.push(key);
    (html! { @for part in &parts { (part) } }, y + 22.0 + height)
}

/// What the panels show: each style once, then what they are compared with.
fn entries(panels: &[Panel], names: &[String]) -> Vec<Entry> {
    let lines = || panels.iter().flat_map(|panel| &panel.lines);
    let shown = names.iter().enumerate().filter_map(|(style, name)| {
        let line = lines().find(|line| line.style == style)?;
        Some(Entry::Line(style, line.form, name.clone()))
    });
    let mut references: Vec<String> = Vec::new();
    for reference in panels.iter().flat_map(|panel| &panel.references) {
        if !references.contains(&reference.label) {
            references.push(reference.label.clone());
        }
    }
    shown.chain(references.into_iter().map(Entry::Reference)).collect()
}

/// Each variable's name with its light and its dark colour.
fn themes() -> Vec<(&'static str, &'static str, &'static str)> {
    let (light, dark) = STYLE.split_once("@media").unwrap_or((STYLE, STYLE));
    let colours = |theme: &'static str| {
        let inside = theme.split_once(":root{").map_or("", |(_, rest)| rest.split('}').next().unwrap_or(""));
        inside.split(';').filter_map(|part| part.strip_prefix("--")?.split_once(':'))
    };
    colours(light).zip(colours(dark)).map(|((name, light), (_, dark))| (name, light, dark)).collect()
}

/// In a dark browser the colours of the attributes are overridden.
fn overrides() -> String {
    let one = |(_, light, dark): &(&str, &str, &str)| {
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    format!("@media (prefers-color-scheme:dark){{{}}}", themes().iter().map(one).collect::<String>())
}
