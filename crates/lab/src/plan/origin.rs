//! A figure of the origin, to stand beside ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `[[origin_figure]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginFigure {
    /// The cells beside which it stands.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// Which figure.
    pub figure: String,
    /// Its value, in its own unit.
    pub value: f64,
    /// That unit, as people write it: `MB/s`, `s`, `ms`, `Gb/s`, `count`, `%`.
    pub unit: String,
    /// Who measured it, and when.
    pub source: String,
}
