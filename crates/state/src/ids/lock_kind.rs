//! Shared or exclusive.

/// The kind of a byte-range lock (RFC 8881 18.10, `nfs_lock_type4` without the wish to wait). A write lock is the stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    /// Shared with other read locks.
    Read,
    /// Exclusive.
    Write,
}

impl LockKind {
    /// Whether two owners may not hold these on one byte.
    pub fn excludes(self, other: Self) -> bool {
        self == Self::Write || other == Self::Write
    }
}
