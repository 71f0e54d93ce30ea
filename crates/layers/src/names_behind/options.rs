//! How late names may be, and how much may wait.

use std::time::Duration;

use howdah_vfs::Handle;

/// How late changes of names may reach the server, and how much of them is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BehindOptions {
    /// A change reaches the server so late at most, as long as the server answers: then new ones wait.
    pub late: Duration,
    /// How long the making of a new file is held back, so that its data and its attributes go with it. When the file is closed, or the same
    /// user renames, links or removes anything, it is sent.
    pub gather: Duration,
    /// A file with more bytes than this that are not safe makes its close wait.
    pub small: usize,
    /// The most changes that wait.
    pub changes: usize,
    /// The most bytes of data that wait.
    pub bytes: usize,
    /// The most changes that are sent at the same time.
    pub in_flight: usize,
    /// Bytes of one WRITE: the server's preferred size.
    pub write_size: usize,
    /// The directory at which paths begin in reports, if it is not the root of what is below.
    pub root: Option<Handle>,
}

impl Default for BehindOptions {
    fn default() -> Self {
        Self {
            late: Duration::from_secs(5),
            gather: Duration::from_secs(1),
            small: 8 << 20,
            changes: 65_536,
            bytes: 256 << 20,
            in_flight: 384,
            write_size: 1 << 20,
            root: None,
        }
    }
}
