//! What each protocol's messages look like as bytes.

#[macro_use]
#[path = "../coding/mod.rs"]
mod coding;
#[path = "../nfs4/dice.rs"]
mod dice;
mod gss;
mod mount;
mod nfs3;
mod nfs4;
mod nfs4_bytes;
mod nfsacl;
mod nlm;
mod portmap;
mod rpc;
mod rquota;
#[path = "../nfs3/samples.rs"]
mod samples;
