//! The decisions of a channel of several connections ("lanes"): which calls may be in flight, which lane carries one, how many lanes
//! there are and whether one still delivers.

mod choice;
mod growth;
#[allow(clippy::module_inception, reason = "it is what the folder is named after")]
mod lanes;
mod limit;
mod meter;
mod outage;
mod span;
mod watch;
mod window;

pub use choice::{Candidate, first_to_deliver};
pub use growth::{Growth, Look, Why};
pub use lanes::{LANES_MAX, Lanes};
pub use limit::{Asked, Limit};
pub use meter::Meter;
pub use outage::{Finding, Outage, SentState, Sight};
pub use watch::{Facts, SILENCE, Verdict, Watch};
pub use window::{Place, Window};
