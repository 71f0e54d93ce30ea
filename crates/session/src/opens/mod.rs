//! What a client has open and locked at a server, and what of it is lost (RFC 8881 8.4, 9.1).

mod open_file;
mod owed;
mod ranges;
mod reclaim;
mod settling;
mod steps;
mod table;

pub use reclaim::ReclaimStep;
pub use settling::{SettleCall, SettleStep};
pub use steps::{CloseStep, LockStep, OpenAccess, OpenStep, StateToUse, UnlockStep};
pub use table::OpenTable;
