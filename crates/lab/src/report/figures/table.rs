//! The numbers of a figure, for who cannot see it and for who wants to go on with them.

/// A table of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FigureTable {
    /// Names of columns, with units.
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}
