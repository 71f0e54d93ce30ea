//! Random operations on a mounted file system, each answer compared with a model in memory. A run follows from its
//! seed. Knows nothing of NFS: on any other file system it must pass too.

mod file;
mod history;
#[allow(unsafe_code, reason = "mapping a file needs it; nothing else here does")]
mod mapping;
mod names;
mod names_model;

pub use file::exercise_file;
pub use names::exercise_names;
