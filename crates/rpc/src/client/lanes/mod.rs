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
pub use growth::{Growth, GrowthLook, GrowthReason};
pub use lanes::{LANES_MAX, Lanes};
pub use limit::{Asked, LaneLimit};
pub use meter::LaneMeter;
pub use outage::{Outage, OutageFinding, SentState, Sight};
pub use watch::{SILENCE, Verdict, Watch, WatchFacts};
pub use window::{Place, Window};
