//! What stands around a plot: names of axes, labels of levels, and texts in general.

use maud::{Markup, html};

use super::axis::Axis;
use super::labels::{width, wrapped};
use super::plot::{Place, TICK_SIZE};

/// From one line of a level's label to the next.
const LEADING: f64 = 14.0;
/// Lines to which the label of a level is broken.
const LINES: usize = 3;
/// No label of a level gets less room than this; then every second one is written.
const LEAST_ROOM: f64 = 34.0;

/// A piece of text.
pub fn text(x: f64, y: f64, size: f64, anchor: &str, words: &str) -> Markup {
    html! { text x=(short(x)) y=(short(y)) font-size=(size) text-anchor=(anchor) fill="var(--ink)" { (words) } }
}

/// A text in bold letters.
pub fn bold(x: f64, y: f64, size: f64, words: &str) -> Markup {
    html! { text x=(short(x)) y=(short(y)) font-size=(size) font-weight="600" fill="var(--ink)" { (words) } }
}

/// The labels of levels below a plot that ends at this height, with a tick at each, and how high they are.
pub fn levels(axis: &Axis, levels: &[(f64, String)], place: &Place, top: f64) -> (Markup, f64) {
    let inner = place.width - place.left - place.right;
    let at = |value: f64| place.left + inner * (value - axis.from) / (axis.to - axis.from);
    let positions: Vec<f64> = levels.iter().map(|(value, _)| at(*value)).collect();
    let apart = positions.windows(2).map(|pair| pair[1] - pair[0]).fold(inner, f64::min);
    let widest = levels.iter().map(|(_, label)| width(label, TICK_SIZE)).fold(0.0, f64::max);
    let every = if widest <= apart - 4.0 { 1 } else { (LEAST_ROOM / apart).ceil().max(1.0) as usize };
    let room = (apart * every as f64 - 6.0).max(LEAST_ROOM - 4.0);
    let (mut parts, mut deepest) = (Vec::new(), 1);
    for (index, (position, (_, label))) in positions.iter().zip(levels).enumerate() {
        let lines = if index % every == 0 { wrapped(label, TICK_SIZE, room, LINES) } else { Vec::new() };
        deepest = deepest.max(lines.len());
        parts.push(html! {
            line x1=(short(*position)) y1=(top) x2=(short(*position)) y2=(top + 5.0) stroke="var(--soft)" {}
            @for (row, line) in lines.iter().enumerate() {
                (text(*position, top + 18.0 + LEADING * row as f64, TICK_SIZE, "middle", line))
            }
        });
    }
    (html! { @for part in &parts { (part) } }, 22.0 + LEADING * (deepest - 1) as f64)
}

/// Two decimals are enough for a pixel.
fn short(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
