//! NFS version 4, minor versions 1 and 2 (RFC 8881, RFC 7862, RFC 7863, RFC 8276): one file per operation, with its number, its
//! arguments and what its result holds, and both directions of coding. What several operations share stands in the files that
//! are named after it.
//!
//! A call is a compound: [`compound::Head`], then for each operation its number and its `Arguments`. A reply is
//! [`compound::ReplyHead`], then for each operation that was carried out [`compound::ResultHead`] and, if it went well, its
//! `Success`. Operations are decoded and encoded one at a time, so that nothing is allocated for them. A result that holds more
//! when the operation was refused says so in its file (SETATTR, LOCK, LOCKT, COPY).

pub mod access;
pub mod allocate;
pub mod attributes;
pub mod backchannel_ctl;
pub mod bind_conn_to_session;
pub mod callback;
pub mod clone;
pub mod close;
pub mod commit;
pub mod compound;
pub mod copy;
pub mod create;
pub mod create_session;
pub mod deallocate;
pub mod delegpurge;
pub mod delegreturn;
pub mod destroy_clientid;
pub mod destroy_session;
pub mod exchange_id;
pub mod free_stateid;
pub mod get_dir_delegation;
pub mod getattr;
pub mod getfh;
pub mod getxattr;
pub mod link;
pub mod listxattrs;
pub mod lock;
pub mod lockt;
pub mod locku;
pub mod lookup;
pub mod lookupp;
pub mod nverify;
pub mod offload_cancel;
pub mod open;
pub mod open_downgrade;
pub mod openattr;
pub mod operation;
pub mod putfh;
pub mod putpubfh;
pub mod putrootfh;
pub mod read;
pub mod readdir;
pub mod readlink;
pub mod reclaim_complete;
pub mod remove;
pub mod removexattr;
pub mod rename;
pub mod restorefh;
pub mod savefh;
pub mod secinfo;
pub mod secinfo_no_name;
pub mod seek;
pub mod sequence;
pub mod set_ssv;
pub mod setattr;
pub mod setxattr;
pub mod test_stateid;
pub mod verify;
pub mod write;

mod bitmap;
mod callback_security;
mod common;
mod identifiers;
mod locks;
mod passing;
mod role;
mod status;

pub use bitmap::Bitmap;
pub use callback_security::{CallbackSecurity, GssHandles};
pub use common::{ChangeInfo, Device, FileType, Stability, Time};
pub use identifiers::{
    ClientId, FileHandle, LinkTarget, Name, Opaque, Owner, SessionId, StateId, Verifier, XattrValue,
};
pub use locks::LockKind;
pub use passing::pass_arguments;
pub use role::OperationRole;
pub use status::Status;

/// The RPC program number.
pub const PROGRAM: u32 = 100_003;
/// The version.
pub const VERSION: u32 = 4;
/// The procedure that does nothing (RFC 8881 16.1).
pub const NULL: u32 = 0;
/// The procedure that carries out operations (RFC 8881 16.2).
pub const COMPOUND: u32 = 1;
