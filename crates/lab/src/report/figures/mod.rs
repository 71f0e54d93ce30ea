//! The figures that a plan asks for: rows become charts, each with its table.

mod bars;
mod draw;
mod grouping;
mod latency;
mod named;
mod over_time;
mod position;
mod sampled;
mod sketch;
mod swept;
mod table;

pub use draw::{Drawn, draw};
pub use over_time::svg_over_time;
pub use sampled::Trace;
pub use table::FigureTable;
