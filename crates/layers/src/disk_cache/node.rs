//! What is kept of one file, and the form in which the index has it.

use super::pieces::CachedPieces;
use super::secret::{CacheSecret, NodeKey};
use super::tag::ContentTag;

/// Where the data of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPlace {
    /// In the index: it is small.
    Index,
    /// In a file of its own.
    File,
}

/// A file of which pieces are on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedNode {
    /// Differs from the number of what was kept under the same key before.
    pub id: u64,
    /// Which content the pieces are of.
    pub tag: ContentTag,
    /// The pieces.
    pub pieces: CachedPieces,
    /// Where they are; `None` before the first.
    pub place: Option<DataPlace>,
    /// What they take on the disk, in bytes.
    pub bytes: u64,
    /// Whether it was wanted since the hand of the clock passed.
    pub used: bool,
    /// Whether changes of ours are under way: nobody knows its tag until they have ended.
    pub is_open: bool,
}

impl CachedNode {
    /// A file of this tag, of which nothing is here yet.
    pub fn new(id: u64, tag: ContentTag) -> Self {
        let pieces = CachedPieces::default();
        Self { id, tag, pieces, place: None, bytes: 0, used: false, is_open: false }
    }

    /// Its entry in the index.
    pub fn encode(&self, secret: &CacheSecret, key: &NodeKey) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ContentTag::LENGTH + 17 + 14 * self.pieces.len());
        self.tag.encode(&mut bytes);
        bytes.push(u8::from(self.place == Some(DataPlace::Index)));
        bytes.extend_from_slice(&self.bytes.to_be_bytes());
        self.pieces.encode(&mut bytes);
        let sum = secret.entry_sum(key, &bytes);
        bytes.extend_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// The file of an entry; `None` if that is damaged.
    pub fn decode(secret: &CacheSecret, key: &NodeKey, id: u64, entry: &[u8]) -> Option<Self> {
        let (content, sum) = entry.split_last_chunk()?;
        if secret.entry_sum(key, content) != u64::from_be_bytes(*sum) {
            return None;
        }
        let (tag, rest) = content.split_first_chunk()?;
        let ([place], rest) = rest.split_first_chunk()?;
        let (bytes, pieces) = rest.split_first_chunk()?;
        Some(Self {
            pieces: CachedPieces::decode(pieces)?,
            place: Some(if *place == 1 { DataPlace::Index } else { DataPlace::File }),
            bytes: u64::from_be_bytes(*bytes),
            ..Self::new(id, ContentTag::decode(tag))
        })
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, FileSystem};

    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written_and_no_flipped_bit_is_taken() {
        let (fs, secret) = (MemoryFileSystem::new(), CacheSecret::new([1; 16]));
        let key = secret.key("server", &fs.root());
        let attributes = fs.attributes(&Caller::ROOT, &fs.root()).expect("attributes");
        let mut node = CachedNode::new(5, ContentTag::of(&attributes));
        node.pieces.put(3, 100, 200);
        (node.place, node.bytes) = (Some(DataPlace::Index), 4096);
        let entry = node.encode(&secret, &key);
        assert_eq!(CachedNode::decode(&secret, &key, 5, &entry), Some(node));
        for bit in 0..8 * entry.len() {
            let mut flipped = entry.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(CachedNode::decode(&secret, &key, 5, &flipped), None, "bit {bit}");
        }
        assert_eq!(CachedNode::decode(&secret, &key, 5, &entry[..3]), None);
        let other = secret.key("other", &fs.root());
        assert_eq!(CachedNode::decode(&secret, &other, 5, &entry), None);
    }
}
