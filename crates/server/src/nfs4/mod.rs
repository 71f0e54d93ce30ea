//! NFS version 4, minor versions 1 and 2 (RFC 8881, RFC 7862): the interpreter of COMPOUND, the table of its operations, one
//! handler per file, and what handlers share.
//!
//! A handler reads its arguments, asks a `FileSystem` or the state of clients, and appends its result. Handlers work on the
//! current node of their [`compound::Compound`].

mod attributes;
mod compound;
mod convert;
mod flavors;
mod interpreter;
mod names;
mod node;
mod opening;
mod pair;
mod procedures;
mod program;
mod pseudo;
mod sequence;
mod session;
mod setting;
mod table;

mod access;
mod allocate;
mod bind;
mod clone;
mod close;
mod commit;
mod copy;
mod create;
mod create_session;
mod delegation;
mod ending;
mod exchange_id;
mod getattr;
mod getfh;
mod link;
mod lock;
mod lookup;
mod lookupp;
mod open;
mod purpose;
mod putfh;
mod putrootfh;
mod read;
mod readdir;
mod readlink;
mod remove;
mod rename;
mod savefh;
mod secinfo;
mod seek;
mod setattr;
mod stateids;
mod verify;
mod write;
mod xattr;

pub use program::Nfs4;
#[cfg(test)]
mod tests;
