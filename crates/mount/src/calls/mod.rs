//! What each request of the kernel does, on the file system.

mod acls;
mod data;
mod directories;
mod files;
mod fitting;
mod locks;
mod names;
mod ranges;
mod settling;
mod status;
mod xattrs;

pub use acls::acl_kind;
pub use files::Created;
pub use fitting::Fitting;
pub use names::Making;
