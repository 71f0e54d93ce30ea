//! Cells that a plan leaves out, and why.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Level;

/// `[[leave_out]]`. Cells keep their numbers, as if these were there.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The levels by factor; factors that it does not name may have any.
    #[serde(rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// The reason, for a reader.
    pub why: String,
}

impl LeftOut {
    /// Whether these levels are meant.
    pub(super) fn is_about(&self, levels: &[(&str, &Level)]) -> bool {
        let at = |(factor, level): &(&str, &Level)| {
            self.cells.get(*factor).is_none_or(|label| *label == level.label)
        };
        levels.iter().all(at)
    }
}
