//! What a worker does to its territory: one call of NFS each. Paths are relative to the territory, with slashes.

use bytes::Bytes;
use howdah_vfs::Stability;

/// How a file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Refused if the name is taken.
    Guarded,
    /// The same call again finds what the first one made.
    Exclusive([u8; 8]),
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the calls of NFS, and where they go")]
pub enum Act {
    Create { path: String, how: How },
    MakeDirectory { path: String },
    MakeLink { path: String, target: String },
    MakePipe { path: String },
    Remove { path: String },
    RemoveDirectory { path: String },
    Rename { from: String, to: String },
    Link { from: String, to: String },
    SetSize { path: String, size: usize },
    SetMode { path: String, mode: u32 },
    Write { path: String, at: usize, bytes: Bytes, stability: Stability },
    Commit { path: String },
}

/// The directory that a path is in, and its name there.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A name in a directory.
pub fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
