//! A directory as a [`FileSystem`](howdah_vfs::FileSystem).
//!
//! One part per kind of operation; `file_system` composes them. A call finds its node among the open nodes (`open_nodes`, or by name in
//! `lookup`), takes on the caller's identity, makes its system calls relative to the open node, and answers. No path is ever walked but one component at a time, or beneath the export's root.
//!
//! Needs Linux 5.8 and `/proc`. What an administrator should know:
//! - As the superuser the export is a private clone of its mount: what is mounted inside it is not shown (unless the
//!   export crosses mounts), and unmounting the original leaves the file system in use until the server ends.
//! - A directory that somebody moves out of the export, with all directories below it, is stale within seconds. A file
//!   stays reachable by handles that clients have already, as with the kernel's server: it may have names elsewhere.
//! - On file systems that keep neither handles nor times of birth, a handle is only the file number, so a number
//!   used again leads to the new node. No usual Linux file system is like that; [`handle_reuse`] finds those that are.
//! - A program that is being written cannot be run, and one that runs cannot be written ("text file busy").

mod access;
mod attributes;
mod cache;
mod change_events;
mod change_times;
#[cfg(test)]
mod change_times_tests;
mod create;
mod data_files;
mod directory;
mod errno;
mod exclusive;
mod file_system;
mod file_system_number;
mod flushes;
mod handle_table;
mod handles;
mod held_files;
mod host_locks;
mod housekeeper;
mod identify;
mod identity;
mod junction;
mod kernel_handle;
mod known;
mod local_watch;
mod lookup;
mod name_changes;
mod node;
mod node_changes;
mod open_error;
mod open_files;
mod open_nodes;
mod options;
mod outside;
mod presence;
mod probe;
mod quotas;
mod ranges;
mod read;
mod reserve;
mod root;
mod set_attributes;
mod stable_storage;
mod statistics;
mod stream;
mod syscall;
mod tree;
mod unnamed;
mod verifier;
mod watched_nodes;
mod write;
mod xattrs;

pub use file_system::LocalFileSystem;
pub use handles::{HandleReuse, handle_reuse};
pub use identity::with_server_rights;
pub use kernel_handle::kernel_handle;
pub use open_error::OpenError;
pub use options::{FallBack, HandleSource, Mode, Options, SyncMode};
pub use presence::Presence;
pub use quotas::can_ask_quotas;
pub use root::Root;
