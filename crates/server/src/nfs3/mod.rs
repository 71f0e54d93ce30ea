//! NFS version 3, and NFSACL beside it: the tables of their procedures, one handler per file, and what handlers share.
//!
//! A handler turns arguments into calls on a `FileSystem` and the answer into a reply. It imports what is shared,
//! messages and `vfs`; handlers never import each other.

// A refusal is a whole message, as large as the answer it stands in for: in a box it would cost an allocation.
#![allow(clippy::result_large_err)]

mod acl_entries;
mod acl_program;
mod acl_table;
mod context;
mod convert;
mod listing;
mod made;
mod makers;
mod names;
mod outline;
mod transfer;

mod access;
mod commit;
mod create;
mod fsinfo;
mod fsstat;
mod getacl;
mod getattr;
mod link;
mod lookup;
mod mkdir;
mod mknod;
mod null;
mod pathconf;
mod program;
mod read;
mod readdir;
mod readdirplus;
mod readlink;
mod remove;
mod rename;
mod rmdir;
mod setacl;
mod setattr;
mod symlink;
mod table;
mod write;

#[cfg(test)]
mod tests;

pub use acl_program::NfsAcl;
pub use program::Nfs3Program;
