//! The facade: what the server calls, one file per kind of call. It puts the parts together, which do not know each other.

mod answers;
mod creation;
mod delegations;
mod ending;
mod exchange;
mod io;
mod locks;
mod memory;
mod nfs_state;
mod nlm;
mod opens;
mod reclaiming;
mod requests;
mod time;
mod views;

pub use answers::{ExchangeAnswer, OpenAnswer, SessionAnswer};
pub use nfs_state::NfsState;
pub use nlm::NlmCalls;
pub use requests::{LockRequest, Locker, NlmLockRequest, OpenRequest};
pub use views::{ClientStanding, ClientView};
