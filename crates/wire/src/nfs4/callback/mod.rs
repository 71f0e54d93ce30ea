//! Callbacks: what a server calls a client for (RFC 8881 20). One file per operation, as in the directory above. The
//! program number
//! is the client's choice (CREATE_SESSION), and a reply starts with [`super::compound::ReplyHead`].

pub mod compound;
pub mod notify_lock;
pub mod operation;
pub mod recall;
pub mod recall_any;
pub mod recall_slot;
pub mod sequence;

/// The version (RFC 8881 20, `NFS_CB`): 1, although RFC 8881 18.36.3 speaks of 4.
pub const VERSION: u32 = 1;
/// The procedure that does nothing (`CB_NULL`).
pub const NULL: u32 = 0;
/// The procedure that carries out operations (`CB_COMPOUND`).
pub const COMPOUND: u32 = 1;
/// Stands in the result for a number that no operation has (`OP_CB_ILLEGAL`).
pub const ILLEGAL: u32 = 10044;
