//! What is kept of all files, in memory, and what gives way when there is no room: CLOCK. Knows no disk.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::node::CachedNode;
use super::pieces::whole_pieces;
use super::secret::NodeKey;
use super::tag::ContentTag;

/// Files that are kept; a file takes about 200 bytes of memory and 16 more for each piece.
const NODES_MAX: usize = 1 << 19;

/// The index.
#[derive(Default)]
pub struct DiskIndex {
    nodes: HashMap<NodeKey, CachedNode>,
    /// In the order in which the hand of the clock comes to them. Those that are gone are passed over.
    clock: VecDeque<(NodeKey, u64)>,
    ids: u64,
    bytes: u64,
    /// Those that are not on the disk as they are here.
    dirty: HashSet<NodeKey>,
}

/// What gives way.
#[derive(Debug, PartialEq, Eq)]
pub enum Eviction {
    /// All that is kept of a file.
    Node(NodeKey),
    /// Ranges in bytes, of the file with this number, that nobody wanted lately.
    Pieces(NodeKey, u64, Vec<Range<u64>>),
}

impl DiskIndex {
    /// A file, if anything is kept of it.
    pub fn get(&self, key: &NodeKey) -> Option<&CachedNode> {
        self.nodes.get(key)
    }

    /// The same, if it is the one with this number.
    pub fn get_mut(&mut self, key: &NodeKey, id: u64) -> Option<&mut CachedNode> {
        self.nodes.get_mut(key).filter(|node| node.id == id)
    }

    /// The number for a file of this tag: what is kept of another content goes. `None`: there is no room for more files.
    pub fn begin(&mut self, key: &NodeKey, tag: ContentTag) -> Option<u64> {
        match self.nodes.get(key) {
            Some(node) if node.tag == tag || node.is_open => return Some(node.id),
            Some(_) => self.remove(key),
            None => {}
        }
        if self.nodes.len() >= NODES_MAX {
            return None;
        }
        let id = self.next_id();
        self.insert(*key, CachedNode::new(id, tag));
        Some(id)
    }

    /// The same while changes of ours are under way. One of them left the file with this tag.
    pub fn begin_open(&mut self, key: &NodeKey, tag: ContentTag) -> Option<u64> {
        let id = match self.nodes.get(key) {
            Some(node) => node.id,
            None => self.begin(key, tag)?,
        };
        self.get_mut(key, id)?.is_open = true;
        Some(id)
    }

    /// Whether these bytes of a file are here, if it still is as it was.
    pub fn has(&self, key: &NodeKey, bytes: &Range<u64>) -> bool {
        self.nodes.get(key).is_some_and(|node| {
            let end = bytes.end.min(node.tag.size);
            !node.is_open && node.pieces.covering(&(bytes.start..end), node.tag.size).is_some()
        })
    }

    /// Which bytes, of those that were read of a file of this tag, are to be put on the disk, and the number of the file.
    pub fn missing(
        &mut self,
        key: &NodeKey,
        tag: ContentTag,
        read: &Range<u64>,
    ) -> Option<(u64, Range<u64>)> {
        let whole = whole_pieces(read, tag.size);
        if whole.is_empty() {
            return None;
        }
        let id = self.begin(key, tag)?;
        let missing = self.nodes.get(key)?.pieces.without_known_ends(&whole, tag.size);
        (!missing.is_empty()).then_some((id, missing))
    }

    /// A file as the disk has it. What is known already is newer.
    pub fn load(&mut self, key: NodeKey, decode: impl FnOnce(u64) -> Option<CachedNode>) {
        if self.nodes.contains_key(&key) || self.dirty.contains(&key) {
            return;
        }
        let id = self.next_id();
        match decode(id) {
            Some(node) if self.nodes.len() < NODES_MAX => self.insert(key, node),
            _ => {
                self.dirty.insert(key);
            }
        }
    }

    /// Changes of ours to a file begin, and these bytes of it will be others.
    pub fn open(&mut self, key: &NodeKey, cut: &Range<u64>) {
        if let Some(node) = self.nodes.get_mut(key) {
            node.is_open = true;
            node.pieces.cut(cut);
            self.dirty.insert(*key);
        }
    }

    /// They have all ended, and left the file with this tag. What came into the index meanwhile is of before.
    pub fn close(&mut self, key: &NodeKey, tag: ContentTag) {
        match self.nodes.get_mut(key) {
            Some(node) if node.is_open => {
                (node.is_open, node.tag) = (false, tag);
                self.dirty.insert(*key);
            }
            _ => self.remove(key),
        }
    }

    /// The bytes that a file takes on the disk are so many now.
    pub fn set_bytes(&mut self, key: &NodeKey, id: u64, bytes: u64) {
        let Some(node) = self.nodes.get_mut(key).filter(|node| node.id == id) else { return };
        let before = std::mem::replace(&mut node.bytes, bytes);
        self.bytes = self.bytes - before + bytes;
        self.dirty.insert(*key);
    }

    /// Nothing that is kept of a file counts.
    pub fn remove(&mut self, key: &NodeKey) {
        if let Some(node) = self.nodes.remove(key) {
            self.bytes -= node.bytes;
            self.dirty.insert(*key);
        }
    }

    /// Nothing that is kept counts.
    pub fn clear(&mut self) {
        *self = Self { ids: self.ids, ..Self::default() };
    }

    /// Bytes that all files take on the disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there are nearly as many files as there may be.
    pub fn is_crowded(&self) -> bool {
        self.nodes.len() > NODES_MAX / 16 * 15
    }

    /// Whether any is not on the disk as it is here.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Those that are not on the disk as they are here; they count as written from now on.
    pub fn take_dirty(&mut self) -> Vec<NodeKey> {
        std::mem::take(&mut self.dirty).into_iter().collect()
    }

    /// They are not on the disk after all.
    pub fn set_dirty(&mut self, keys: impl IntoIterator<Item = NodeKey>) {
        self.dirty.extend(keys);
    }

    /// Takes out what nobody wanted lately; `None` if nothing is left.
    pub fn evict(&mut self) -> Option<Eviction> {
        loop {
            let (key, id) = self.clock.pop_front()?;
            let Some(node) = self.get_mut(&key, id) else { continue };
            if !node.used {
                self.remove(&key);
                return Some(Eviction::Node(key));
            }
            node.used = false;
            let cold = node.pieces.take_cold();
            if node.pieces.len() == 0 {
                self.remove(&key);
                return Some(Eviction::Node(key));
            }
            self.clock.push_back((key, id));
            if !cold.is_empty() {
                self.dirty.insert(key);
                return Some(Eviction::Pieces(key, id, cold));
            }
        }
    }

    fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    fn insert(&mut self, key: NodeKey, node: CachedNode) {
        // Those that are gone are as many as those that are there: time to leave them out.
        if self.clock.len() > 2 * self.nodes.len() + 64 {
            let nodes = &self.nodes;
            self.clock.retain(|(key, id)| nodes.get(key).is_some_and(|node| node.id == *id));
        }
        self.clock.push_back((key, node.id));
        self.bytes += node.bytes;
        self.nodes.insert(key, node);
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Attributes, Caller, FileSystem};

    use super::super::pieces::PIECE;
    use super::*;

    fn key(byte: u8) -> NodeKey {
        NodeKey::new([byte; 16])
    }

    fn tag(size: u64) -> ContentTag {
        let fs = MemoryFileSystem::new();
        let attributes = fs.attributes(&Caller::ROOT, &fs.root()).expect("attributes");
        ContentTag::of(&Attributes { size, ..attributes })
    }

    fn filled(files: u8) -> DiskIndex {
        let mut index = DiskIndex::default();
        for file in 0..files {
            let id = index.begin(&key(file), tag(3 * PIECE)).expect("room");
            (0..3).for_each(|piece| {
                index.get_mut(&key(file), id).expect("there").pieces.put(piece, PIECE as usize, 0);
            });
            index.set_bytes(&key(file), id, 3 * PIECE);
        }
        index
    }

    fn use_bytes(index: &mut DiskIndex, file: u8, bytes: Range<u64>) {
        let node = index.nodes.get_mut(&key(file)).expect("there");
        node.used = true;
        node.pieces.mark_used(&bytes);
    }

    #[test]
    fn what_nobody_wanted_goes_first_and_what_was_wanted_has_a_second_chance() {
        let mut index = filled(3);
        use_bytes(&mut index, 0, 0..1);
        let id = index.get(&key(0)).expect("there").id;
        let cold = vec![PIECE..2 * PIECE, 2 * PIECE..3 * PIECE];
        assert_eq!(index.evict(), Some(Eviction::Pieces(key(0), id, cold)));
        assert_eq!(index.evict(), Some(Eviction::Node(key(1))));
        use_bytes(&mut index, 2, 0..3 * PIECE);
        assert_eq!(index.evict(), Some(Eviction::Node(key(0))), "not wanted since");
        assert_eq!(index.evict(), Some(Eviction::Node(key(2))), "its second chance was the round before");
        assert_eq!((index.evict(), index.bytes(), index.nodes.len()), (None, 0, 0));
    }

    #[test]
    fn another_content_takes_the_place_of_what_was_kept() {
        let mut index = filled(1);
        let id = index.get(&key(0)).expect("there").id;
        assert_eq!(index.begin(&key(0), tag(3 * PIECE)), Some(id));
        let new = index.begin(&key(0), tag(7)).expect("room");
        assert_ne!(new, id);
        assert!(index.get_mut(&key(0), id).is_none());
        assert_eq!((index.bytes(), index.get(&key(0)).expect("there").pieces.len()), (0, 0));
    }

    #[test]
    fn places_of_what_is_gone_do_not_gather() {
        let mut index = DiskIndex::default();
        for size in 0..10_000 {
            index.begin(&key(1), tag(size));
        }
        assert!(index.clock.len() < 100, "{}", index.clock.len());
        assert_eq!(index.take_dirty(), [key(1)]);
    }
}
