//! MOUNT version 3: from a path on a server to the handle of a directory, and where on the server to ask.
//!
//! `service` makes single calls; `portmap` asks on which port a program is; `places` says where to look for MOUNT and NFS;
//! `mnt`, `export` and `umnt` are procedures; `mounted` is a mount that is taken back when it is dropped.

mod error;
mod export;
mod facts;
mod mnt;
mod mounted;
mod places;
mod portmap;
mod service;
mod umnt;

pub use error::{Contact, MountError};
pub use facts::Inquiry;
pub(crate) use mnt::mountable;
pub use mnt::{Mount, mount};
pub use mounted::Mounted;
pub(crate) use places::NFS_PORT;
pub use places::{Place, Places, Search};
