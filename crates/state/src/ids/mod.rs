//! Names of what the server keeps: clients, sessions, states, opens and NLM hosts. Plain data; nothing here knows what they name.

mod byte_range;
mod client_id;
mod host_id;
mod io;
mod lock_kind;
mod open_id;
mod owner;
mod principal;
mod range_length;
mod session_id;
mod share;
mod state_id;

pub use byte_range::ByteRange;
pub use client_id::ClientId;
pub use host_id::HostId;
pub use io::{IoKind, IoPermit};
pub use lock_kind::LockKind;
pub use open_id::OpenId;
pub use owner::{LockOwner, NlmOwner};
pub use principal::Principal;
pub use session_id::SessionId;
pub use share::{ShareAccess, ShareDeny};
pub use state_id::StateId;
