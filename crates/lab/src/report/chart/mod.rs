//! Charts: what is drawn, and how it becomes SVG. A chart knows no plan and no row.

mod axis;
mod bars;
mod compose;
mod data;
mod frame;
mod key;
mod labels;
mod plot;
mod screen;
mod style;

pub use axis::{Axis, Kind};
pub use compose::{standalone, svg};
pub use data::{
    Bar, BarGroup, Bars, Chart, ChartContent, ChartForm, ChartLine, ChartPoint, Panel, Reference,
};
pub use screen::Width;
pub use style::STYLE;
