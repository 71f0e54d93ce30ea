//! What a plan varies.

use toml::Table;

/// A factor: a column of the table, an axis of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its levels, in order.
    pub levels: Vec<Level>,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// What it is called.
    pub label: String,
    /// What it changes in the cell.
    pub(super) set: Table,
    /// Where it is in the file, for errors.
    pub(super) line: usize,
}

impl Factor {
    /// The labels of its levels, in order.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().map(|level| level.label.as_str())
    }

    /// Whether there is a level of that name.
    pub fn has(&self, label: &str) -> bool {
        self.labels().any(|known| known == label)
    }
}
