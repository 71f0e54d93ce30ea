//! A lock that somebody wants.

use crate::ids::{ByteRange, LockKind, LockOwner};

/// A lock that somebody wants.
#[derive(Debug, PartialEq, Eq)]
pub struct LockWish<'w, K> {
    /// Of which file.
    pub key: &'w K,
    /// Who.
    pub owner: &'w LockOwner,
    /// Which bytes.
    pub range: ByteRange,
    /// How.
    pub kind: LockKind,
}

impl<K> Clone for LockWish<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for LockWish<'_, K> {}
