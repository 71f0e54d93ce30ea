//! How much is kept on the disk, of which server, and when the disk is given up.

use std::time::Duration;

/// What a cache on disk is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskCacheOptions {
    /// Bytes that it may take on the disk.
    pub size: u64,
    /// The server and what it exports: files of others have other names in the cache.
    pub server: String,
    /// For how long a file is believed to be as it was seen. Then the server is asked before anything of it is given.
    pub believed: Duration,
    /// How long a read of the disk may take; then the server is asked instead.
    pub patience: Duration,
    /// How long the disk may take for one call; then the cache is not used any more.
    pub hangs_after: Duration,
}

impl DiskCacheOptions {
    /// A cache of so many bytes for a server's export.
    pub fn new(size: u64, server: impl Into<String>) -> Self {
        Self {
            size,
            server: server.into(),
            believed: Duration::from_secs(3),
            patience: Duration::from_millis(100),
            hangs_after: Duration::from_secs(10),
        }
    }
}
