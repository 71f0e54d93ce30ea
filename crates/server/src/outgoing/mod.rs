//! Calls that this server makes itself: to clients' lock managers and status monitors, and to portmappers. Each is one short
//! conversation from the address that the client knows; a queue says which is due.

mod call;
mod due_queue;
mod ports;
mod record;

pub use call::{CallFailure, Called, call, tell};
pub use due_queue::{DueQueue, QueueBounds};
pub use ports::{ClientPorts, PORTMAPPER};
pub use record::exchange_record;
