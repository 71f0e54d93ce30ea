//! NLM version 4, which locks files for NFSv3 clients (RFC 1813 appendix II, X/Open C702 chapter 14): one file per procedure, with
//! its number, its arguments and its reply, and both directions of coding.
//!
//! Five procedures also come in two halves: a call of `MESSAGE` has the same arguments, and is answered by nothing; the reply comes
//! later as the arguments of a call of `RESULT`, which is answered by nothing either.

pub mod cancel;
pub mod free_all;
pub mod granted;
pub mod lock;
pub mod nm_lock;
pub mod share;
pub mod sm_notify;
pub mod test;
mod types;
pub mod unlock;
pub mod unshare;

pub use types::{CallerName, Cookie, Holder, Lock, LockOwner, Status};

/// The RPC program number.
pub const PROGRAM: u32 = 100_021;
/// The version that goes with NFS version 3.
pub const VERSION_4: u32 = 4;
