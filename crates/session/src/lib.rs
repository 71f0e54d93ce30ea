//! The client's half of NFSv4.1 sessions (RFC 8881 2.10): slots and their numbers, the lease, and the order of recovery. Pure: replies
//! and time come in, tickets and actions come out.
//!
//! [`ClientSession`] is the [`CallSession`](howdah_rpc::client::envelope::CallSession) of a channel. Compounds are encoded with an empty
//! SEQUENCE, which [`SEQUENCE_STAMP`] fills in when they are sent. What the server's SEQUENCE said decides what becomes of the slot.
//!
//! The owner of the session, on a thread of its own, begins with no session and goes round like this:
//!
//! ```text
//! action = session.poll(now) -> call -> session.on_exchanged, on_created or on_done
//! nothing to do -> sleep until session.wake_at(), or until the channel says that the session wants its owner
//! ```
//!
//! [`OpenTable`] says what is to be reclaimed (`Reclaim`), and what is to be opened again or set right after that (`CheckStates`).
//!
//! [`CallbackSlots`] is the other direction: the slots in which the server calls.
//!
//! Meanwhile calls wait in the channel. A call that was sent in a session that is gone is answered BADSESSION: its caller makes it again,
//! and must know by other means whether it ran.

mod callback_slots;
mod client_session;
mod delegations;
mod lease;
mod opens;
mod outcome;
mod recovery;
mod slots;
mod stamp;
mod strikes;

pub use callback_slots::{CallbackAdmission, CallbackSlots};
pub use client_session::{ClientSession, ExchangedId, SessionStanding};
pub use delegations::{GrantedDelegation, HeldDelegations};
pub use opens::{
    CloseStep, LockStep, OpenAccess, OpenStep, OpenTable, ReclaimStep, SettleCall, SettleStep, StateToUse,
    UnlockStep,
};
pub use outcome::{SequenceOutcome, SequenceWord};
pub use recovery::{UpkeepAction, UpkeepFailure};
pub use slots::{SlotTable, SlotTrouble};
pub use stamp::{SEQUENCE_STAMP, UPKEEP_STAMP};
