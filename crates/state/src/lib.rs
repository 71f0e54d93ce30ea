//! The state of NFSv4.1, NFSv4.2 and NLM: clients, sessions and their slots, opens with share reservations, byte-range locks,
//! leases, grace, and the records that survive a restart. Pure: time comes in as a duration since the start, and what is to be done
//! outside comes out as [`Effects`].
//!
//! The server keeps one [`NfsState`] behind a mutex and goes there like this:
//!
//! ```text
//! lock -> call -> take_effects -> queue effects (in this order) -> unlock
//!      -> wait until records up to `effects.durable` are durable -> go on with the answer
//! ```
//!
//! READ and WRITE need no such lock if [`IoRights::permit`] knows their stateid.
//! SEQUENCE needs none, too: [`SessionTable::find`] gives the session, and [`LiveSession::sequence`] takes only a slot's own.
//!
//! `K` names a file for as long as somebody has something of it, and is the same for every name and every protocol. `S` is what
//! the server keeps with a session, such as the sizes of its channels.

mod clients;
mod delegations;
mod effects;
mod error;
mod files;
mod grace;
mod holdings;
mod hosts;
mod ids;
mod journal;
pub mod limits;
mod memory;
mod reclaims;
mod records;
mod sessions;
mod settings;
mod state;
mod states;

pub use clients::{ClientCaller, ClientIdentity};
pub use delegations::{ChangeWatch, Changing, DelegationTable, UnnamedChange};
pub use effects::{ClientEnd, DurableRecord, Effect, Effects, LockGrant, MirrorPiece, Serial};
pub use error::{LockConflict, StateError};
pub use files::{LockTable, LockView, RangeTable, ShareTable, WaitView};
pub use holdings::Holdings;
pub use hosts::{HostRecord, Hosts};
pub use ids::{
    ByteRange, ClientId, HostId, IoKind, IoPermit, LockKind, LockOwner, NlmOwner, OpenId, Principal,
    SessionId, ShareAccess, ShareDeny, StateId,
};
pub use memory::MemoryBounds;
pub use records::RecoveryRecords;
pub use sessions::{
    LiveSession, SequenceAnswer, SequenceRequest, SessionSlot, SessionSlots, SessionTable, SlotAnswer,
    SlotGuard,
};
pub use settings::{StateBounds, StateSettings};
pub use state::{
    ClientStanding, ClientView, ExchangeAnswer, LockRequest, Locker, NfsState, NlmCalls, NlmLockRequest,
    OpenAnswer, OpenRequest, SessionAnswer,
};
pub use states::IoRights;
