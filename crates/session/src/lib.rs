//! The client's half of NFSv4.1 sessions (RFC 8881 2.10): slots and their numbers. Pure: replies and time come in, tickets come out.
//!
//! [`ClientSession`] is the [`CallSession`](howdah_rpc::client::envelope::CallSession) of a channel. Compounds are encoded with an empty
//! SEQUENCE, which [`SEQUENCE_STAMP`] fills in when they are sent. What the server's SEQUENCE said decides what becomes of the slot.

mod client_session;
mod outcome;
mod slots;
mod stamp;

pub use client_session::ClientSession;
pub use outcome::{SequenceOutcome, SequenceWord};
pub use slots::{SlotTable, SlotTrouble};
pub use stamp::{SEQUENCE_STAMP, UPKEEP_STAMP};
