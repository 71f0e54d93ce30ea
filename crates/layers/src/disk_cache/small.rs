//! Data of small files that waits for the index to be written. Knows no disk.

use std::collections::HashMap;

use bytes::Bytes;

use super::secret::NodeKey;

/// What a file takes here in addition to its data, in bytes.
const OVERHEAD: usize = 256;

/// All of it.
#[derive(Default)]
pub struct SmallFiles {
    files: HashMap<NodeKey, (u64, Bytes)>,
    bytes: usize,
}

impl SmallFiles {
    /// The data of the file with this number.
    pub fn get(&self, key: &NodeKey, id: u64) -> Option<&Bytes> {
        self.files.get(key).filter(|(of, _)| *of == id).map(|(_, data)| data)
    }

    /// Data waits, in the place of what the file had.
    pub fn insert(&mut self, key: NodeKey, id: u64, data: Bytes) {
        self.remove(&key);
        self.bytes += data.len() + OVERHEAD;
        self.files.insert(key, (id, data));
    }

    /// It waits no more.
    pub fn remove(&mut self, key: &NodeKey) {
        if let Some((_, data)) = self.files.remove(key) {
            self.bytes -= data.len() + OVERHEAD;
        }
    }

    /// Only that of these files waits on.
    pub fn retain(&mut self, keeps: impl Fn(&NodeKey) -> bool) {
        self.files.retain(|key, _| keeps(key));
        self.bytes = self.files.values().map(|(_, data)| data.len() + OVERHEAD).sum();
    }

    /// Nothing waits.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes of memory that all of it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_memory_is_known() {
        let (mut small, key) = (SmallFiles::default(), |byte| NodeKey::new([byte; 16]));
        small.insert(key(1), 5, Bytes::from_static(b"first"));
        small.insert(key(1), 6, Bytes::from_static(b"second"));
        small.insert(key(2), 7, Bytes::from_static(b"other"));
        assert_eq!((small.get(&key(1), 5), small.get(&key(1), 6).map(Bytes::len)), (None, Some(6)));
        assert_eq!(small.bytes(), 11 + 2 * OVERHEAD);
        small.retain(|other| *other == key(2));
        assert_eq!(small.bytes(), 5 + OVERHEAD);
        small.remove(&key(2));
        assert_eq!(small.bytes(), 0);
    }
}
