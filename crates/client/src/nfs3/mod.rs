//! NFS version 3 as a [`FileSystem`](howdah_vfs::FileSystem): one file per procedure, `file_system` is the table.
//!
//! A procedure's file turns arguments of the trait into those of the protocol, and the answer back. It asks again for what
//! a server may leave out, and judges the answers to calls that had to be sent twice. `client` makes the calls.

mod access;
mod acls;
mod client;
mod commit;
mod convert;
mod create;
mod exchange;
mod file_system;
mod fsinfo;
mod fsstat;
mod getattr;
mod link;
mod listing;
mod lookup;
mod made;
mod mkdir;
mod mknod;
mod pathconf;
mod procedure;
mod read;
mod readdir;
mod readdirplus;
mod readlink;
mod remove;
mod rename;
mod repeated;
mod setattr;
mod sizes;
mod symlink;
mod write;

pub use client::{Nfs3, Settings};
