//! The report: what was measured, as one page that a browser shows without asking anyone else for anything, and each
//! figure as SVG. It reads a result directory and knows nothing of how anything was run.

mod chart;
mod figures;
mod page;
mod results;
mod units;
mod write;

pub use figures::{Trace, svg_over_time};
pub use write::write;
