//! Which names are one file: the first name is copied, the others become links to the copy. Pure.
//!
//! Grows with the number of files that have several names, and forgets each when its last name was seen.

use std::collections::HashMap;

use howdah_vfs::{Attributes, Handle};

use super::Side;

/// Which file: the realm of its source, file system and number.
pub(super) type FileKey = (u64, u64, u64);

/// Names of files with several of them; `N` is a name that waits.
#[derive(Debug)]
pub(super) struct LinkTable<N> {
    files: HashMap<FileKey, Known<N>>,
}

#[derive(Debug)]
struct Known<N> {
    copy: Copy<N>,
    /// Names that were not seen yet.
    unseen: u32,
}

#[derive(Debug)]
enum Copy<N> {
    UnderWay(Vec<N>),
    There(Handle),
}

/// What to do with a name.
#[derive(Debug)]
pub(super) enum Claim<N> {
    /// Copy it, and report how that ended.
    Copy(N),
    /// Nothing now: it comes back when the copy is there.
    Wait,
    /// Link to this.
    Link(N, Handle),
}

impl<N> LinkTable<N> {
    pub(super) fn new() -> Self {
        Self { files: HashMap::new() }
    }

    /// Which file a node of a source is. Sources of one realm share it.
    pub(super) fn key(source: &Side, attributes: &Attributes) -> FileKey {
        (source.realm, attributes.file_system, attributes.file)
    }

    /// A name of a file that has several was seen.
    pub(super) fn claim(&mut self, key: FileKey, links: u32, name: N) -> Claim<N> {
        let Some(known) = self.files.get_mut(&key) else {
            let unseen = links.saturating_sub(1);
            self.files.insert(key, Known { copy: Copy::UnderWay(Vec::new()), unseen });
            return Claim::Copy(name);
        };
        known.unseen = known.unseen.saturating_sub(1);
        match &mut known.copy {
            Copy::UnderWay(waiting) => {
                waiting.push(name);
                Claim::Wait
            }
            Copy::There(handle) => {
                let handle = *handle;
                if known.unseen == 0 {
                    self.files.remove(&key);
                }
                Claim::Link(name, handle)
            }
        }
    }

    /// The first name is copied: gives the names that waited for it.
    pub(super) fn on_copied(&mut self, key: FileKey, copy: Handle) -> Vec<N> {
        let Some(known) = self.files.get_mut(&key) else { return Vec::new() };
        let waiting = match std::mem::replace(&mut known.copy, Copy::There(copy)) {
            Copy::UnderWay(waiting) => waiting,
            Copy::There(_) => Vec::new(),
        };
        if known.unseen == 0 {
            self.files.remove(&key);
        }
        waiting
    }

    /// The first name could not be copied: gives one that waited, to be copied in its place.
    pub(super) fn on_failed(&mut self, key: FileKey) -> Option<N> {
        let known = self.files.get_mut(&key)?;
        let next = match &mut known.copy {
            Copy::UnderWay(waiting) => waiting.pop(),
            Copy::There(_) => None,
        };
        if next.is_none() {
            self.files.remove(&key);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_copied_and_the_others_linked() {
        let handle = Handle::new(b"copy").expect("short");
        let mut table = LinkTable::new();
        assert!(matches!(table.claim((0, 1, 2), 4, 'a'), Claim::Copy('a')));
        assert!(matches!(table.claim((0, 1, 2), 4, 'b'), Claim::Wait));
        assert!(matches!(table.claim((0, 1, 3), 2, 'x'), Claim::Copy('x')));
        assert!(matches!(table.claim((0, 1, 2), 4, 'c'), Claim::Wait));
        assert_eq!(table.on_failed((0, 1, 2)), Some('c'));
        assert_eq!(table.on_copied((0, 1, 2), handle), ['b']);
        assert!(matches!(table.claim((0, 1, 2), 4, 'd'), Claim::Link('d', found) if found == handle));
        assert_eq!(table.on_failed((0, 1, 3)), None);
        assert!(table.files.is_empty());
    }
}
