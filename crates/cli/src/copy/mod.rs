//! What `howdah cp` is made of: which copy is meant, how far it is, what came of it.

mod events;
mod options;
mod plan;
mod progress;
mod stream;
mod totals;

pub use events::{dry_line, event_line};
pub use options::copy_options;
pub use plan::{CopyPlan, plan};
pub use progress::{ProgressScreen, Watch};
pub use stream::{StreamPlan, StreamTask, is_stream, stream_plan};
pub use totals::{CopyTotals, as_json, as_text};
