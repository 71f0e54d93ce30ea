//! NFSACL version 3, by which clients of NFSv3 read and set POSIX ACLs: one file per procedure, with its number, its arguments and its
//! reply, and both directions of coding. No RFC has it. Solaris defined it; Linux has it in `include/uapi/linux/nfsacl.h`.

pub mod getacl;
pub mod setacl;
mod types;

pub use crate::limits::ACL_ENTRIES_MAX;
pub use types::{AclEntryOnWire, AclOnWire, AclSelection};

/// The RPC program number.
pub const PROGRAM: u32 = 100_227;
/// The version.
pub const VERSION: u32 = 3;
