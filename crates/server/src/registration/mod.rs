//! Registration with the rpcbind that runs on this host, so that clients which ask it find this server.
//!
//! Only what this server serves is registered, only while it runs, and never in the place of another server; with an rpcbind that
//! was started anew, once more.

mod conversation;
mod error;
mod keeper;
mod other_locks;
mod register;
mod row;

pub use error::RegistrationError;
pub use keeper::Keeper;
pub use other_locks::OtherLocks;
pub use register::{Registration, register};
pub use row::Row;
