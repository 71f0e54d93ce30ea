//! A figure that the report draws.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `[[figure]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// What kind of figure.
    pub kind: FigureKind,
    /// The factor along the axis.
    #[serde(default)]
    pub x: Option<String>,
    /// The figure that is shown.
    #[serde(default)]
    pub y: Option<String>,
    /// The factor of which each level is a line.
    #[serde(default)]
    pub by: Option<String>,
    /// The cells it is about; all if nothing is said.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// Of a series: what is shown over time, as the fields of a series line with spaces.
    #[serde(default)]
    pub show: Vec<String>,
    /// Of a series: the host whose end is shown; if left out, of each quantity the end at which it counts (the
    /// sender's window, the receiver's buffer).
    #[serde(default)]
    pub host: Option<String>,
    /// What is drawn. What came of it is for claims to say, which the data can refute.
    pub caption: String,
}

/// The kinds of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// A figure against a factor, a line for each level of another.
    Swept,
    /// Over time, of one cell.
    Series,
    /// Percentiles of latencies.
    Latency,
    /// A bar for each cell.
    Bars,
}
