//! What each request of the kernel does, on the file system.

mod data;
mod directories;
mod files;
mod names;
mod settling;
mod status;

pub use files::Created;
pub use names::Making;
