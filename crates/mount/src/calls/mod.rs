//! What each request of the kernel does, on the file system.

mod data;
mod directories;
mod files;
mod locks;
mod names;
mod ranges;
mod settling;
mod status;
mod xattrs;

pub use files::Created;
pub use names::Making;
pub use xattrs::Fitting;
