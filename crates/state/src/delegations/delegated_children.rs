//! Files that are in delegated directories, where a change of one calls the delegation of its directory back. Each is known by a
//! digest: of two with the same one, a change of either counts as one of both.

use std::collections::HashMap;
use std::hash::Hash;

/// The files, by directory and by digest.
#[derive(Debug)]
pub struct DelegatedChildren<K> {
    directories: HashMap<K, Directory>,
    by_number: HashMap<u32, K>,
    parents: HashMap<u64, Parents>,
    next: u32,
    count: usize,
}

#[derive(Debug)]
struct Directory {
    number: u32,
    children: Vec<u64>,
}

/// The directories that a file is in. Most are in one.
#[derive(Debug)]
enum Parents {
    One(u32),
    Many(Vec<u32>),
}

impl Parents {
    fn as_slice(&self) -> &[u32] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl<K> Default for DelegatedChildren<K> {
    fn default() -> Self {
        Self {
            directories: HashMap::new(),
            by_number: HashMap::new(),
            parents: HashMap::new(),
            next: 0,
            count: 0,
        }
    }
}

impl<K: Clone + Eq + Hash> DelegatedChildren<K> {
    /// From now on files of a directory are known.
    pub fn open(&mut self, directory: &K) {
        if self.directories.contains_key(directory) {
            return;
        }
        self.next = self.next.wrapping_add(1);
        self.directories.insert(directory.clone(), Directory { number: self.next, children: Vec::new() });
        self.by_number.insert(self.next, directory.clone());
    }

    /// Whether files of a directory are known.
    pub fn has(&self, directory: &K) -> bool {
        self.directories.contains_key(directory)
    }

    /// A file is in a directory whose files are known. Whether that is new.
    pub fn add(&mut self, directory: &K, child: u64) -> bool {
        let Some(Directory { number, children }) = self.directories.get_mut(directory) else { return false };
        let number = *number;
        match self.parents.get_mut(&child) {
            None => _ = self.parents.insert(child, Parents::One(number)),
            Some(parents) if parents.as_slice().contains(&number) => return false,
            Some(parents) => *parents = Parents::Many([parents.as_slice(), &[number]].concat()),
        }
        children.push(child);
        self.count += 1;
        true
    }

    /// The directories that a file is in, of those whose files are known.
    pub fn parents(&self, child: u64) -> Vec<K> {
        let numbers = self.parents.get(&child).map_or(&[][..], Parents::as_slice);
        numbers.iter().filter_map(|number| self.by_number.get(number).cloned()).collect()
    }

    /// The files of a directory are known no more. Gives those that were.
    pub fn close(&mut self, directory: &K) -> Vec<u64> {
        let Some(Directory { number, children }) = self.directories.remove(directory) else {
            return Vec::new();
        };
        self.by_number.remove(&number);
        for child in &children {
            let Some(parents) = self.parents.get_mut(child) else { continue };
            let left: Vec<u32> = parents.as_slice().iter().copied().filter(|one| *one != number).collect();
            match left[..] {
                [] => _ = self.parents.remove(child),
                [one] => *parents = Parents::One(one),
                _ => *parents = Parents::Many(left),
            }
        }
        self.count -= children.len();
        if self.parents.is_empty() {
            self.parents = HashMap::new();
        }
        children
    }

    /// How many files are known, counted in each directory.
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_be_in_several_directories() {
        let mut children = DelegatedChildren::default();
        assert!(!children.add(&"a", 1), "nobody wants to know");
        for directory in ["a", "b", "a"] {
            children.open(&directory);
        }
        assert!(children.add(&"a", 1) && children.add(&"b", 1) && children.add(&"a", 2));
        assert!(!children.add(&"a", 1));
        assert_eq!(
            (children.parents(1), children.parents(2), children.count()),
            (vec!["a", "b"], vec!["a"], 3)
        );
        assert_eq!(children.close(&"a"), [1, 2]);
        assert_eq!((children.parents(1), children.parents(2), children.count()), (vec!["b"], vec![], 1));
        assert_eq!(children.close(&"a"), []);
        assert_eq!(children.close(&"b"), [1]);
        assert!(children.parents.is_empty() && children.by_number.is_empty());
    }
}
