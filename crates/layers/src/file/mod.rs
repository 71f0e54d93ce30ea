//! An open file of any file system, for code that reads and writes one as a program does: what others wrote before it was
//! opened is seen, what was written is safe when it is closed, and a server that restarts in between loses nothing.
//!
//! `uncommitted` holds the data that is not durable yet; `open_file` makes the calls.

mod open_file;
mod uncommitted;

pub use open_file::{OpenFile, OpenFileOptions};
pub use uncommitted::{Lost, Uncommitted};
