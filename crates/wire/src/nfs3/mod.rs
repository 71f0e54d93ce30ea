//! NFS version 3 (RFC 1813): one file per procedure, with its number, its arguments and its reply, and both
//! directions of coding. What several procedures share stands in the files that are named after it.

pub mod access;
pub mod commit;
pub mod create;
pub mod fsinfo;
pub mod fsstat;
pub mod getattr;
pub mod link;
pub mod listing;
pub mod lookup;
pub mod mkdir;
pub mod mknod;
pub mod null;
pub mod pathconf;
pub mod read;
pub mod readdir;
pub mod readdirplus;
pub mod readlink;
pub mod remove;
pub mod rename;
pub mod rmdir;
pub mod setattr;
pub mod symlink;
pub mod write;

mod attributes;
mod names;
mod new_attributes;
mod status;

use crate::message;

pub use crate::limits::{DATA_MAX, FILE_NAME_MAX as NAME_MAX, HANDLE_MAX, LINK_TARGET_MAX as TARGET_MAX};
pub use attributes::{Attributes, BeforeAttributes, Device, FileType, Time, WeakCacheConsistency};
pub use names::{DirectoryName, FileHandle, Made};
pub use new_attributes::{NewAttributes, SetTime};
pub use status::{Refused, Status};

/// The RPC program number.
pub const PROGRAM: u32 = 100_003;
/// The version.
pub const VERSION: u32 = 3;
