//! NLM version 4, which locks files for NFSv3 clients (X/Open C702 chapter 14): as much of it as refuses a lock.

pub mod lock;
pub mod share;
mod types;

pub use types::{Cookie, Status};

/// The RPC program number.
pub const PROGRAM: u32 = 100_021;
/// The version that goes with NFS version 3.
pub const VERSION_4: u32 = 4;
