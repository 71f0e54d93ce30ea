//! Delegations of directories (RFC 8881 10.9): asked for beside calls that look at a directory, and given back when the server calls.
//!
//! `delegations` is what all threads share. `asking` puts the question into compounds. `returning` is the thread that gives them back.

mod asking;
#[allow(clippy::module_inception, reason = "it is what the folder is named after")]
mod delegations;
mod returning;

pub(super) use delegations::ClientDelegations;
pub(super) use returning::Returner;
