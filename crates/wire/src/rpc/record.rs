//! Record marking on streams (RFC 5531 11): a record is one or more fragments, each after a four-byte mark.

/// The bit of a mark that says: this fragment ends the record.
pub const LAST_FRAGMENT: u32 = 1 << 31;

/// The mark before a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordMark {
    /// Length of the fragment in bytes.
    pub length: u32,
    /// Whether it ends the record.
    pub last: bool,
}

impl RecordMark {
    /// Length of a mark in bytes.
    pub const SIZE: usize = 4;

    /// The mark in these bytes.
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let word = u32::from_be_bytes(bytes);
        Self { length: word & !LAST_FRAGMENT, last: word & LAST_FRAGMENT != 0 }
    }

    /// The bytes of this mark.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        (self.length & !LAST_FRAGMENT | if self.last { LAST_FRAGMENT } else { 0 }).to_be_bytes()
    }
}
