//! How a directory is to be opened, and how it turned out to be opened.

use std::path::PathBuf;

/// When a change of metadata (a name, a mode, a size) is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// Before it is answered, as NFSv3 demands (RFC 1813 4.8). The default.
    #[default]
    Sync,
    /// When the kernel sees fit. Faster, and a crash of the machine loses changes that clients believe made.
    Async,
}

/// How a directory is to be opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directory for what must outlive the process: the index of handles (where the kernel's cannot be used) and
    /// the nonce of the write verifier. One per exported directory. None by default: then handles of moved files
    /// are found again by search, and each process has its own write verifier.
    pub state: Option<PathBuf>,
    /// Whether what is mounted below the directory is shown too. Off by default: then a mount point shows the
    /// directory underneath where the process may see it, else its lookup is refused.
    pub cross_mounts: bool,
    /// When changes of metadata are durable.
    pub sync: SyncMode,
    /// Whether the write verifier outlives the process where the data does, so that clients of a server that was restarted
    /// need not write again. On by default; off where other hosts serve the same files.
    pub keeps_verifier: bool,
    /// Whether a server without privilege opens a file of its own user whose mode forbids that, by changing the mode for a moment. On
    /// by default: an NFS server must let the owner of an open file read and write it, and cannot know which files are open
    /// (RFC 1813 4.4). Off for programs that act as their user: they get what the kernel grants, and change nothing.
    pub overrides_own_modes: bool,
    /// The most files kept open between calls. By default [`Options::OPEN_FILES`]; never more than half of what
    /// the process may open (`RLIMIT_NOFILE`), for its connections need some.
    pub open_files: usize,
    /// The most handles remembered, so that a listing need not ask the kernel for each again. By default
    /// [`Options::KNOWN_HANDLES`]; each takes about 110 bytes once used.
    pub known_handles: usize,
}

impl Options {
    /// Default of [`Options::open_files`]: enough for the working set of a few dozen busy clients.
    pub const OPEN_FILES: usize = crate::limits::OPEN_FILES;

    /// Default of [`Options::known_handles`]: a listing of 10^5 entries is remembered whole, in at most 30 MB.
    pub const KNOWN_HANDLES: usize = crate::limits::KNOWN_HANDLES;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            state: None,
            cross_mounts: false,
            sync: SyncMode::Sync,
            keeps_verifier: true,
            overrides_own_modes: true,
            open_files: Self::OPEN_FILES,
            known_handles: Self::KNOWN_HANDLES,
        }
    }
}

/// Where handles come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleSource {
    /// The kernel opens them (`open_by_handle_at`, needs `CAP_DAC_READ_SEARCH`).
    Kernel,
    /// An index of our own finds them, and a search what the index does not know.
    Index,
}

/// Why handles are file numbers with times of birth although the kernel makes handles of this file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallBack {
    /// The process that serves the file system (FUSE) gives its nodes other numbers than its files, so that handles end with it.
    NodeNumbers,
    /// A handle was not opened any more once the kernel had forgotten its node.
    Forgotten,
}

/// How a directory was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Where handles come from.
    pub handles: HandleSource,
    /// Why handles are not the kernel's, if they could be.
    pub fall_back: Option<FallBack>,
    /// Whether each call runs with the ids of its caller. Else every call runs as the process itself.
    pub acts_as_caller: bool,
}
