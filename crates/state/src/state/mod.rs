//! The facade: what the server calls, one file per kind of call. It puts the parts together, which do not know each other.

mod answers;
mod requests;
mod state;
mod views;

pub use answers::{ExchangeAnswer, IoPermit, LockAnswer, OpenAnswer, SessionAnswer};
pub use requests::{ClientIdentity, IoKind, LockRequest, Locker, NlmLockRequest, OpenRequest};
pub use state::NfsState;
pub use views::{ClientStanding, ClientView, LockView, WaitView};
