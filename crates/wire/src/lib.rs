//! The messages: XDR, ONC RPC, portmap and rpcbind, MOUNT, NFSv3, NFSv4.1 and 4.2, NFSACL, NLM, NSM, rquota.
//!
//! This floor is pure: bytes in, values out, and back. It knows no socket, no file and no clock, and nothing of
//! what a file system is. One file per procedure holds its arguments and its reply, with both directions of coding.
//! Nothing is allocated because a peer claimed a length; opaque data is borrowed from the input.

pub mod limits;
mod message;
pub mod mount;
pub mod nfs3;
pub mod nfs4;
pub mod nfsacl;
pub mod nlm;
pub mod nsm;
pub mod portmap;
pub mod rpc;
pub mod rpcbind;
pub mod rquota;
pub mod xdr;
