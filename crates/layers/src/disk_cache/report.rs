//! What a cache on disk holds and did.

/// A cache on disk as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskCacheReport {
    /// Whether it is in use.
    pub state: DiskCacheState,
    /// Reads that it answered.
    pub hits: u64,
    /// Reads that the server answered.
    pub misses: u64,
    /// Reads of the disk that took too long, so that the server was asked.
    pub late: u64,
    /// Pieces that were found damaged.
    pub damaged: u64,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
    /// The most that it may take.
    pub bytes_max: u64,
}

/// Whether a cache on disk is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskCacheState {
    /// Its index is being read; nothing is found yet.
    Loading,
    /// It is.
    On,
    /// What it has is given, and nothing is added: the disk is full.
    Full,
    /// It is not any more: the disk did not answer.
    Hangs,
    /// It is not any more: the disk fails.
    Fails,
}
