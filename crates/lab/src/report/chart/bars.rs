//! Lying bars: the name of a group, then for each bar its name and figure, and below them the bar.

use maud::{Markup, PreEscaped, html};

use super::data::{Bar, Bars};
use super::frame::{bold, text};
use super::key::{Entry, key};
use super::labels::wrapped;
use super::plot::{self, Place};
use super::screen::Width;

/// Height of a row: a line of text, or a bar.
const ROW: f64 = 17.0;
/// Letters.
const SIZE: f64 = 12.5;

/// What is in a row.
enum Row {
    Group(String),
    Says(String),
    Bar(Bar),
    Space,
}

/// The drawing from this height down, and how high it is.
pub fn draw(bars: &Bars, width: Width, top: f64, id: &str) -> (Markup, f64) {
    let rows = rows(bars, width.pixels());
    let height = ROW * rows.len() as f64;
    let place = Place {
        width: width.pixels(),
        height: height + 30.0,
        left: 4.0,
        right: 26.0,
        top: 4.0,
        bottom: 26.0,
    };
    let plot = plot::bars(bars, &rows.iter().map(Row::bar).collect::<Vec<_>>(), &place, id);
    let name_at = top + place.height + 14.0;
    let references: Vec<Entry> = bars.reference.iter().map(|at| Entry::Reference(at.label.clone())).collect();
    let (key, key_height) = key(&references, name_at + 10.0, place.width);
    let markup = html! {
        g transform=(format!("translate(0 {top})")) { (PreEscaped(plot)) }
        @for (index, row) in rows.iter().enumerate() { (row.words(top + 4.0 + ROW * index as f64 + 13.0)) }
        (text(place.width / 2.0, name_at, SIZE, "middle", &bars.axis.name))
        (key)
    };
    (markup, name_at + 10.0 + key_height - top)
}

fn rows(bars: &Bars, room: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    for group in &bars.groups {
        if !rows.is_empty() {
            rows.push(Row::Space);
        }
        rows.extend(wrapped(&group.label, SIZE, room - 20.0, 3).into_iter().map(Row::Group));
        for bar in &group.bars {
            rows.extend(wrapped(&bar.says, SIZE, room - 40.0, 3).into_iter().map(Row::Says));
            rows.push(Row::Bar(bar.clone()));
        }
    }
    rows
}

impl Row {
    fn bar(&self) -> Option<&Bar> {
        match self {
            Self::Bar(bar) => Some(bar),
            _ => None,
        }
    }

    fn words(&self, y: f64) -> Markup {
        match self {
            Self::Group(words) => bold(8.0, y, SIZE, words),
            Self::Says(words) => text(8.0, y, SIZE, "start", words),
            Self::Bar(_) | Self::Space => html! {},
        }
    }
}
