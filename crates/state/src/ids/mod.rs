//! Names of what the server keeps: clients, sessions, states, opens and NLM hosts. Plain data; nothing here knows what they name.

mod byte_range;
mod client_id;
mod io;
mod lock_kind;
mod owner;
mod range_length;
mod session_id;
mod share;
mod state_id;

pub use byte_range::ByteRange;
pub use client_id::{ClientId, OpenId, Principal};
pub use io::{IoKind, IoPermit};
pub use lock_kind::LockKind;
pub use owner::{HostId, LockOwner, NlmOwner};
pub use session_id::SessionId;
pub use share::{ShareAccess, ShareDeny};
pub use state_id::StateId;
