//! Which cache on disk was asked for.

use std::path::PathBuf;

/// A cache on disk before another server's export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskCacheSettings {
    /// Where it is.
    pub directory: PathBuf,
    /// Bytes that it may take.
    pub size: u64,
}

impl DiskCacheSettings {
    /// The size unless another one is asked for.
    pub const SIZE: u64 = 20 << 30;
}
