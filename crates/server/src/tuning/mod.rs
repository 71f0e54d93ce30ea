//! Sizes connections to the paths that they take, and knows what limits each. Runs beside the hot path, on a thread of its
//! own: workers do nothing for it.

mod cap_knobs;
mod endings;
mod gauge;
mod gone;
mod knob;
mod knobs;
mod networks;
mod offers;
mod parse;
mod pressing;
mod processors;
mod report;
mod reporting;
mod settings;
mod sizing;
mod telling;
mod watcher;
mod words;

pub(crate) use endings::Endings;
pub(crate) use gone::Gone;
pub use gone::GoneClient;
pub use knob::{Knob, KnobError};
pub(crate) use knobs::Knobs;
pub use networks::NetworkSizes;
pub(crate) use offers::FIRST_MARK;
pub use parse::{parse_congestion, parse_memory_budget, parse_receive_buffer, parse_send_buffer};
pub(crate) use pressing::Pressing;
pub use report::{
    AccountReport, ClientReport, ConnectionReport, ConnectionTlsReport, Figures, MemoryReport, MovedReport,
    QuicReport, Sizes, TuningReport, VerdictReport,
};
pub(crate) use reporting::{pressure, report};
pub use settings::Tuning;
pub(crate) use sizing::Sizing;
pub use watcher::{Look, Watcher};
