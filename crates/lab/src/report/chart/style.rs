//! Colours, dashes and markers. For readers who cannot distinguish colours, or print on paper, there are the dash and the
//! marker.

use kuva::plot::scatter::MarkerShape;

/// How many lines in one panel have a style of their own.
pub const STYLES: usize = 7;

/// The colours as CSS variables, for light and for dark; blue, vermilion, green, purple, ochre, sky, grey. After Okabe
/// and Ito's palette for all kinds of colour vision, darkened on white and lightened on black until each has a
/// contrast of 4.5 to 1 or more to the ground.
pub const STYLE: &str = "\
:root{--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--ground:#ffffff;--reference:#6e4a00;\
--c0:#005f9e;--c1:#b84300;--c2:#00704f;--c3:#96367a;--c4:#7a5c00;--c5:#0b7285;--c6:#4b5563}\
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b3;--line:#3a424c;--ground:#0f1318;--reference:#ffd479;\
--c0:#62b6f5;--c1:#ff9457;--c2:#3fd0a0;--c3:#ef9bd2;--c4:#e6c34a;--c5:#5cd3e6;--c6:#b4bdc9}}";

const DASHES: [&str; STYLES] = ["", "9 4", "2 3", "9 3 2 3", "14 4", "5 3", "12 3 2 3 2 3"];

/// The colour of a line or bar.
pub fn colour(style: usize) -> String {
    format!("var(--c{})", style % STYLES)
}

/// Its dash; empty for a line without gaps. The second round of colours is shifted, so that no pair comes twice.
pub fn dash(style: usize) -> &'static str {
    DASHES[(style + style / STYLES) % STYLES]
}

/// Its marker.
pub fn marker(style: usize) -> MarkerShape {
    match (style + style / STYLES) % STYLES {
        0 => MarkerShape::Circle,
        1 => MarkerShape::Square,
        2 => MarkerShape::Triangle,
        3 => MarkerShape::Diamond,
        4 => MarkerShape::TriangleDown,
        5 => MarkerShape::Plus,
        _ => MarkerShape::Cross,
    }
}

/// The marker of what somebody else measured: open, so that it hides nothing below it.
pub fn open_marker(style: usize) -> MarkerShape {
    if style.is_multiple_of(2) { MarkerShape::Cross } else { MarkerShape::Plus }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("hexadecimal")) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn every_colour_can_be_read_on_its_ground() {
        let (light, dark) = STYLE.split_once("@media").expect("both");
        for theme in [light, dark] {
            let of = |name: &str| {
                let at = theme.find(&format!("--{name}:")).expect("there") + name.len() + 3;
                luminance(&theme[at..at + 7])
            };
            for name in ["ink", "soft", "reference", "c0", "c1", "c2", "c3", "c4", "c5", "c6"] {
                let (one, other) = (of(name), of("ground"));
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                assert!(contrast >= 4.5, "{name}: {contrast}");
            }
        }
    }

    #[test]
    fn no_two_of_the_first_forty_nine_look_the_same() {
        let looks: std::collections::BTreeSet<_> =
            (0..49).map(|style| (colour(style), dash(style))).collect();
        assert_eq!(looks.len(), 49);
    }
}
