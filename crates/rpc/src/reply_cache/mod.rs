//! The duplicate-request cache: a call that may not run twice is answered from here when it is sent again.
//!
//! It knows which call is which, what was answered, and what to forget. Time and bytes are arguments; locks, and which
//! procedures may not run twice, are the caller's affair.

mod cache;
mod call;
mod entries;
mod key;
mod limits;
mod queue;
mod recent;

pub use cache::{Begin, ReplyCache, Slot};
pub use call::Call;
pub use key::{CallKey, Checksum};
pub use limits::Limits;
pub use recent::Recent;
