//! What the layers hold and did.

use crate::{AttributeCacheReport, DiskCacheReport, ListAheadReport, ReadAheadReport, WriteBehindReport};

/// All layers as they are now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CachedReport {
    /// Attributes and names.
    pub attributes: AttributeCacheReport,
    /// Directories that are listed ahead.
    pub listing: ListAheadReport,
    /// What is read ahead.
    pub reading: ReadAheadReport,
    /// What is written behind.
    pub writing: WriteBehindReport,
    /// What is kept on disk, if anything is.
    pub disk: Option<DiskCacheReport>,
}
