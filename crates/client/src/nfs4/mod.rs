//! NFS versions 4.1 and 4.2 as a [`FileSystem`](howdah_vfs::FileSystem): one file per call of the trait, `file_system` is the table.
//!
//! A call is a compound (RFC 8881 2.3), sent in a slot of a session. `establish` makes the session and walks the path to the root in one
//! compound; `exchange` makes a call again when the session was lost. A file is open only while something of it is locked (`locks`):
//! else data goes by handles, and a file is made by OPEN and CLOSE in one compound. The server calls back through `callbacks`.

mod access;
mod callbacks;
mod change;
mod client;
mod client_name;
mod commit;
mod compound;
mod convert;
mod create;
mod delegations;
mod error;
mod establish;
mod exchange;
mod extended_attributes;
mod file_system;
mod get_attributes;
mod handle_file;
mod handles;
mod lane_probe;
mod limits;
mod link;
mod listing;
mod lock_owner;
mod locks;
mod lookup;
mod make;
mod making;
mod new_file;
mod open_file;
mod open_states;
mod operation;
mod principal;
mod ranges;
mod read;
mod read_link;
mod reclaim;
mod refusal;
mod remove;
mod rename;
mod results;
mod server_facts;
mod session;
mod set_attributes;
mod statistics;
mod upkeep;
mod walk;
mod whole_file;
mod write;
mod xattr_support;

pub use client::Nfs4Client;
pub use error::{EstablishError, EstablishStep};
pub(crate) use establish::{Nfs4Settings, establish};
pub use handle_file::HandleFileUse;
pub use principal::{NameDatabase, use_names_of};
pub(crate) use session::session_protocol;
