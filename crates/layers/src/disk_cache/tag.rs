//! What identifies one content of a file: the tag under which pieces of it are kept. Knows no file system and no disk.

use howdah_vfs::{Attributes, Timestamp};

/// A file as the server described it. Equal tags mean equal content: the change attribute, where the server has one, and file number,
/// both times and the size, where it has none. The time of modification alone, which users set, is never enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentTag {
    file: u64,
    change: u64,
    changed: Timestamp,
    modified: Timestamp,
    /// Bytes of the file.
    pub size: u64,
}

impl ContentTag {
    /// Bytes of a tag in the index.
    pub const LENGTH: usize = 48;

    /// The tag of a file that is like this.
    pub fn of(attributes: &Attributes) -> Self {
        let Attributes { file, change, changed, modified, size, .. } = *attributes;
        Self { file, change, changed, modified, size }
    }

    /// Appends the tag as it is in the index.
    pub fn encode(&self, into: &mut Vec<u8>) {
        for number in [self.file, self.change, self.size] {
            into.extend_from_slice(&number.to_be_bytes());
        }
        for time in [self.changed, self.modified] {
            into.extend_from_slice(&time.seconds.to_be_bytes());
            into.extend_from_slice(&time.nanoseconds.to_be_bytes());
        }
    }

    /// The tag in these bytes.
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let number = |at: usize| u64::from_be_bytes(*bytes[at..].first_chunk().expect("8 bytes"));
        let time = |at: usize| Timestamp {
            seconds: number(at).cast_signed(),
            nanoseconds: u32::from_be_bytes(*bytes[at + 8..].first_chunk().expect("4 bytes")),
        };
        Self { file: number(0), change: number(8), size: number(16), changed: time(24), modified: time(36) }
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, FileSystem};

    use super::*;

    fn attributes() -> Attributes {
        let fs = MemoryFileSystem::new();
        fs.attributes(&Caller::ROOT, &fs.root()).expect("attributes")
    }

    #[test]
    fn every_fact_makes_another_tag_and_mtime_alone_none_that_is_equal() {
        let was = attributes();
        let later = Timestamp { seconds: was.changed.seconds, nanoseconds: was.changed.nanoseconds + 1 };
        let tag = ContentTag::of(&was);
        for now in [
            Attributes { file: was.file + 1, ..was },
            Attributes { change: was.change + 1, ..was },
            Attributes { changed: later, ..was },
            Attributes { modified: later, ..was },
            Attributes { size: was.size + 1, ..was },
            // Written, and its time of modification set back.
            was.with_changed(later),
        ] {
            assert_ne!(tag, ContentTag::of(&now));
        }
        let read = Attributes { accessed: later, mode: 0o600, ..was };
        assert_eq!(tag, ContentTag::of(&read));
    }

    #[test]
    fn a_tag_is_read_as_it_was_written() {
        let changed = Timestamp { seconds: -5, nanoseconds: 999_999_999 };
        let tag = ContentTag::of(&Attributes { size: 1 << 40, ..attributes().with_changed(changed) });
        let mut bytes = Vec::new();
        tag.encode(&mut bytes);
        assert_eq!(ContentTag::decode(bytes.as_slice().try_into().expect("its length")), tag);
    }
}
