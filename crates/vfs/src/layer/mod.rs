//! File systems that wrap another one: they decorate, so that nobody needs a flag.
//!
//! A [`Layer`] sees every call as it passes, in one function; `forward` writes all methods once.

mod call;
mod delayed;
mod faulty;
mod forward;
mod metered;
mod meters;
mod plan;
mod read_only;
mod short_handles;
mod withdrawn;
mod within_quota;
mod without_set_id;

pub use call::Call;
pub use delayed::{Delayed, Sleeper};
pub use faulty::Faulty;
pub use forward::Layer;
pub use metered::{Metered, Stopwatch};
pub use meters::{CallFigures, Snapshot};
pub use plan::{Fault, FaultKind, FaultPlan};
pub use read_only::ReadOnly;
pub use short_handles::{HandleBook, HandleNumber, ShortHandles};
pub use withdrawn::Withdrawn;
pub use within_quota::{Seconds, WithinQuota};
pub use without_set_id::WithoutSetId;
