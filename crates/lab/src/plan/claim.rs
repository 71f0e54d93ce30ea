//! What a plan concludes, in a form that rows can judge.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `[[claim]]`. It is about the medians of every cell that `where` names: it must hold in each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The conclusion, for a reader.
    pub says: String,
    /// The figure it is about.
    pub figure: String,
    /// The cells it is about; all if nothing is said.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// The figure is at most this.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// The figure is at least this.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// Of what the bound is a multiple; of the figure's own unit if left out.
    #[serde(default)]
    pub of: Option<Of>,
}

/// What a bound is a multiple of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Of {
    /// `"line rate"`: the payload that TCP can carry over the wire; `"round trip"`: that of the empty wire.
    Path(PathFigure),
    /// Another figure, of the same cell with other levels of the factors in `where`.
    Figure {
        /// The figure.
        figure: String,
        /// The levels that are not as in the claim's cell.
        #[serde(default, rename = "where")]
        cells: BTreeMap<String, String>,
    },
}

/// What a wire is by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathFigure {
    /// The payload that TCP can carry.
    #[serde(rename = "line rate")]
    LineRate,
    /// The round trip while it is empty.
    #[serde(rename = "round trip")]
    RoundTrip,
}
