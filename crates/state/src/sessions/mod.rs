//! Sessions and their slots: what SEQUENCE touches, shared among threads without the lock on all state.

mod budget;
mod live;
mod sequence;
mod shared;
mod slot;
mod slots;
mod table;

pub use live::LiveSession;
pub use sequence::{SequenceAnswer, SlotGuard};
pub use shared::ClientShared;
pub use slot::{SequenceRequest, SessionSlot, SlotAnswer};
pub use slots::SessionSlots;
pub use table::SessionTable;
