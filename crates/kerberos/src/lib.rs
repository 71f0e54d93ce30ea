//! Tickets, keytabs and principals: a process of its own that establishes contexts by the system's Kerberos library, and
//! [`Helper`], by which servers and clients ask it.
//!
//! The library parses what strangers send, so it runs where nothing else is. [`Helper::start`] starts processes of howdah's own
//! binary, which call [`run_helper`]: a supervisor, and the worker that it starts again whenever it dies. A server that has given
//! up the right to start programs keeps its helpers that way. Tokens and answers travel over a Unix socket, one message each.

mod error;
mod helper;
mod library;
mod message;
mod process;
#[cfg(any(test, feature = "realm"))]
pub mod realm;
mod settings;
mod socket;
mod worker;

#[cfg(test)]
mod tests;

pub use error::{GssFailure, HelperError};
pub use helper::{AcceptedContext, Helper, InitiatedContext, Initiation};
#[cfg(feature = "fuzz")]
pub use message::read_as_both_ends;
pub use process::run_helper;
pub use settings::HelperSettings;
