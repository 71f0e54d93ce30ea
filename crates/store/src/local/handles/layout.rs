//! Where the kernel's handles hold the file number.

/// Where a file system's kernel handles hold the file number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Layout {
    /// In the first four bytes, or the first eight for kinds 0x81 and up.
    First,
    /// In bytes 4 to 11 (tmpfs).
    Second,
    /// In the first eight bytes, the word of the high half before the other (FUSE: the number of the node, which daemons that
    /// serve clusters take from the file number).
    HighWordFirst,
    /// Not known: then a handle made by name cannot be compared with the attributes made by name.
    Unknown,
}

impl Layout {
    /// Where it is not known: what an example shows, the handle of a node whose file number is `file`.
    pub(in super::super) fn or_by_example(self, file: u64, kind: i32, bytes: &[u8]) -> Self {
        let plain = matches!(kind, 1 | 2) && Self::First.file_number(kind, bytes) == Some(file);
        if self == Self::Unknown && plain { Self::First } else { self }
    }

    /// The file number in a handle.
    pub(super) fn file_number(self, kind: i32, bytes: &[u8]) -> Option<u64> {
        let long = |from: usize| bytes.get(from..from + 8)?.try_into().ok().map(u64::from_ne_bytes);
        match self {
            // FILEID_INO32_GEN and FILEID_INO32_GEN_PARENT.
            Self::First if matches!(kind, 1 | 2) => {
                bytes.get(..4)?.try_into().ok().map(|bytes| u64::from(u32::from_ne_bytes(bytes)))
            }
            Self::First => long(0),
            Self::Second => long(4),
            Self::HighWordFirst => {
                let word = |from: usize| bytes.get(from..from + 4)?.try_into().ok().map(u32::from_ne_bytes);
                Some(u64::from(word(0)?) << 32 | u64::from(word(4)?))
            }
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_fuse_node_has_its_high_word_first() {
        let bytes: Vec<u8> = [7_u32, 42, 1].into_iter().flat_map(u32::to_ne_bytes).collect();
        assert_eq!(Layout::HighWordFirst.file_number(0x81, &bytes), Some(7 << 32 | 42));
        assert_eq!(Layout::HighWordFirst.file_number(0x81, &bytes[..7]), None);
    }
}
