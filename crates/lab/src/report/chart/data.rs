//! What a chart holds.

use super::Axis;

/// A figure to draw.
#[derive(Debug, Clone)]
pub struct Chart {
    /// In a few words, for who hears the page.
    pub title: String,
    /// What it shows, in a sentence or two, for who hears the page.
    pub description: String,
    /// What is drawn.
    pub content: ChartContent,
}

/// What is drawn.
#[derive(Debug, Clone)]
pub enum ChartContent {
    /// Lines over one horizontal axis.
    Lines {
        /// The axis that all panels have in common.
        x: Axis,
        /// From top to bottom.
        panels: Vec<Panel>,
        /// What each style of line stands for, in the order of their numbers.
        key: Vec<String>,
    },
    /// Bars in groups.
    Bars(Bars),
}

/// One set of axes.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The vertical axis.
    pub y: Axis,
    /// Lines.
    pub lines: Vec<ChartLine>,
    /// Horizontal lines to compare with.
    pub references: Vec<Reference>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct ChartLine {
    /// Its place in the key, which gives it colour, dash and marker.
    pub style: usize,
    /// From left to right.
    pub points: Vec<ChartPoint>,
    /// How it is drawn.
    pub form: ChartForm,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartForm {
    /// With a marker at each point: there are few, and each was measured.
    Marked,
    /// Without markers: a time series.
    Plain,
    /// Open markers alone, without a line: what somebody else measured.
    Points,
}

/// One point; without a value there is a gap.
#[derive(Debug, Clone)]
pub struct ChartPoint {
    /// Where, on the horizontal axis.
    pub x: f64,
    /// How high.
    pub y: Option<f64>,
    /// The least and the most.
    pub spread: Option<(f64, f64)>,
    /// What it says when pointed at.
    pub says: String,
}

/// A horizontal line to compare with.
#[derive(Debug, Clone)]
pub struct Reference {
    /// How high.
    pub y: f64,
    /// What it is.
    pub label: String,
}

/// Bars in groups, drawn lying, so that names of any length can be read.
#[derive(Debug, Clone)]
pub struct Bars {
    /// The axis of values.
    pub axis: Axis,
    /// From top to bottom.
    pub groups: Vec<BarGroup>,
    /// A value to compare with.
    pub reference: Option<Reference>,
}

/// One group.
#[derive(Debug, Clone)]
pub struct BarGroup {
    /// Its name.
    pub label: String,
    /// Its bars.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What gives it its colour.
    pub style: usize,
    /// How long; none if there is no figure.
    pub value: Option<f64>,
    /// The least and the most.
    pub spread: Option<(f64, f64)>,
    /// What stands over it.
    pub says: String,
}
