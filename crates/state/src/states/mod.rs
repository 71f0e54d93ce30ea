//! What stateids stand for, of each client. Knows nothing of what other clients have.

mod client_states;
mod combinations;
mod io_rights;
mod table;

pub use client_states::{ClientStates, Stated, bytes_of_lock, bytes_of_open};
pub use combinations::Combinations;
pub use io_rights::{Allows, IoRight, IoRights};
pub use table::StateTable;
