//! Compounds without a socket.

mod client;
mod common_locks;
mod delegations;
mod files;
mod flavors;
mod local;
mod locks;
mod names;
mod ranges;
mod scheduling;
mod sessions;
mod strangers;
mod umask;
mod xattrs;
