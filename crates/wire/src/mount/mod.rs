//! MOUNT versions 1 (RFC 1094 appendix A) and 3 (RFC 1813 5): one file per procedure that has arguments or a result.
//! Version 1 differs from version 3 in the answer of MNT alone.

pub mod dump;
pub mod export;
pub mod mnt;
mod types;
pub mod umnt;

pub use crate::limits::{HOST_NAME_MAX as NAME_MAX, MOUNT_PATH_MAX as PATH_MAX};
pub use types::{DirectoryPath, HostName, Status};

/// The RPC program number.
pub const PROGRAM: u32 = 100_005;
/// The version that goes with NFS version 2.
pub const VERSION_1: u32 = 1;
/// The version that goes with NFS version 3.
pub const VERSION_3: u32 = 3;
/// Number of NULL, which does nothing.
pub const NULL: u32 = 0;
/// Number of UMNTALL (RFC 1813 5.2.4), which has neither arguments nor result: forgets all mounts of the caller.
pub const UMNTALL: u32 = 4;
