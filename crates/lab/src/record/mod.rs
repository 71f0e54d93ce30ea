//! Results: rows, time series and the directory that holds them; medians over repetitions. Reports and other programs read what
//! is here. It knows nothing of how anything was run.

mod directory;
mod medians;
mod row;
mod series_line;
mod shown;
mod table;
#[cfg(test)]
pub(crate) mod testing;

pub use directory::{ResultDirectory, name_of};
pub use medians::{CellMedians, latest, medians};
pub use row::{CommandRecord, Late, LinkCount, Outcome, Row, RowFigure, unit};
pub use series_line::{ConnectionSample, LinkSample, SeriesLine, VerdictSample};
pub use shown::shown;
pub use table::{main_figure, table};
