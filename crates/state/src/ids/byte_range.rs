//! Bytes of a file.

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
