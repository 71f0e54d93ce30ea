//! A figure before it has its caption.

use super::super::chart::Chart;
use super::FigureTable;

/// A chart with its numbers and notes, before it has its caption.
pub struct Sketch {
    /// What is drawn.
    pub chart: Chart,
    /// Its numbers.
    pub table: FigureTable,
    /// What has to be known besides.
    pub notes: Vec<String>,
}
