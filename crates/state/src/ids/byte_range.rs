//! Bytes of a file.

use crate::error::StateError;

/// Bytes of a file, at least one: from `first` to `last`, both included. `last` is `u64::MAX` for "to the end of the file, wherever
/// it will be".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteRange {
    /// The first byte.
    pub first: u64,
    /// The last byte.
    pub last: u64,
}

impl ByteRange {
    /// All bytes.
    pub const ALL: Self = Self { first: 0, last: u64::MAX };

    /// The range of an NFSv4 lock: a length of all ones is "to the end" (RFC 8881 18.10.3).
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the length is 0 or the end is beyond 2^64 - 1.
    pub fn from_length(first: u64, length: u64) -> Result<Self, StateError> {
        let last = match length {
            0 => return Err(StateError::Invalid),
            u64::MAX => u64::MAX,
            _ if first.checked_add(length).is_none() => return Err(StateError::Invalid),
            _ => first + (length - 1),
        };
        Ok(Self { first, last })
    }

    /// The range of an NLM lock: a length of 0 is "to the end", and so is what ends beyond 2^64 - 1 (C702).
    pub fn from_nlm_length(first: u64, length: u64) -> Self {
        let last = if length == 0 { u64::MAX } else { first.saturating_add(length - 1) };
        Self { first, last }
    }

    /// The length on the wire of NFSv4: all ones for "to the end".
    pub fn length(self) -> u64 {
        if self.last == u64::MAX { u64::MAX } else { self.last - self.first + 1 }
    }

    /// Whether they share a byte.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// The bytes of both.
    pub fn intersection(self, other: Self) -> Option<Self> {
        self.overlaps(other)
            .then(|| Self { first: self.first.max(other.first), last: self.last.min(other.last) })
    }
}
