//! The key under a figure: a sample of each line with its dash and marker, and what it stands for.

use kuva::plot::scatter::MarkerShape;
use maud::{Markup, html};

use super::data::ChartForm;
use super::frame::text;
use super::labels::{width, wrapped};
use super::plot::REFERENCE_DASH;
use super::style;

/// Letters, in pixels.
const SIZE: f64 = 12.5;
/// From one line of text to the next.
const LEADING: f64 = 18.0;
/// A sample with the room behind it: long enough to show a dash.
const SAMPLE: f64 = 44.0;
/// Between two entries of one row.
const APART: f64 = 18.0;
/// Lines to which the text of one entry is broken.
const LINES: usize = 4;

/// An entry.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A line of this style and form.
    Line(usize, ChartForm, String),
    /// A line to compare with.
    Reference(String),
}

/// The key, from this height down and in this width; and how high it is.
pub fn key(entries: &[Entry], top: f64, room: f64) -> (Markup, f64) {
    let (mut x, mut y, mut lines_of_row) = (0.0, top, 0);
    let mut parts = Vec::new();
    for entry in entries {
        let lines = wrapped(entry.label(), SIZE, room - SAMPLE, LINES);
        let wide = SAMPLE + lines.iter().map(|line| width(line, SIZE)).fold(0.0, f64::max);
        if x > 0.0 && x + wide > room {
            y += LEADING * lines_of_row as f64;
            (x, lines_of_row) = (0.0, 0);
        }
        lines_of_row = lines_of_row.max(lines.len());
        parts.push(html! {
            (entry.sample(x, y + LEADING / 2.0))
            @for (index, line) in lines.iter().enumerate() {
                (text(x + SAMPLE, y + LEADING * index as f64 + 13.0, SIZE, "start", line))
            }
        });
        x += wide + APART;
    }
    let height = y + LEADING * lines_of_row as f64 - top;
    (html! { @for part in &parts { (part) } }, height)
}

impl Entry {
    fn label(&self) -> &str {
        match self {
            Self::Line(_, _, label) | Self::Reference(label) => label,
        }
    }

    fn sample(&self, x: f64, y: f64) -> Markup {
        match self {
            Self::Line(style, form, _) => html! {
                @if *form != ChartForm::Points { (stroke(x, y, &style::colour(*style), style::dash(*style), 2.0)) }
                @if *form != ChartForm::Plain { (marker(*style, *form, x + 18.0, y)) }
            },
            Self::Reference(_) => stroke(x, y, "var(--reference)", REFERENCE_DASH, 1.5),
        }
    }
}

fn stroke(x: f64, y: f64, colour: &str, dash: &str, thick: f64) -> Markup {
    html! {
        line x1=(x) y1=(y) x2=(x + 36.0) y2=(y) stroke=(colour) stroke-width=(thick)
            stroke-dasharray=[(!dash.is_empty()).then_some(dash)] {}
    }
}

/// As the markers in the plot look.
fn marker(style: usize, form: ChartForm, x: f64, y: f64) -> Markup {
    let shape = if form == ChartForm::Points { style::open_marker(style) } else { style::marker(style) };
    let path = match shape {
        MarkerShape::Circle => "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
        MarkerShape::Square => "M-4 -4H4V4H-4Z",
        MarkerShape::Triangle => "M0 -5L4.5 3.5H-4.5Z",
        MarkerShape::Diamond => "M0 -5.5L4.5 0L0 5.5L-4.5 0Z",
        MarkerShape::TriangleDown => "M0 5L4.5 -3.5H-4.5Z",
        MarkerShape::Plus => "M-5 0H5M0 -5V5",
        _ => "M-4 -4L4 4M-4 4L4 -4",
    };
    let open = matches!(shape, MarkerShape::Plus | MarkerShape::Cross);
    let colour = style::colour(style);
    html! {
        path d=(path) transform=(format!("translate({x} {y})"))
            fill=(if open { "none" } else { colour.as_str() })
            stroke=[open.then_some(colour.as_str())] stroke-width=[open.then_some("1.5")] {}
    }
}
