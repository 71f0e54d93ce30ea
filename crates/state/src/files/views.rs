//! Locks, as an administrator sees them.

use crate::ids::{ByteRange, LockKind, LockOwner};

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockView<'a, K> {
    /// The file.
    pub key: &'a K,
    /// Who.
    pub owner: &'a LockOwner,
    /// How.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
}

/// A lock that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitView<'a, K> {
    /// The file.
    pub key: &'a K,
    /// Who waits.
    pub owner: &'a LockOwner,
    /// How it is to be locked.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
    /// Who holds it; none if it is the waiter's turn.
    pub holder: Option<&'a LockOwner>,
}
