//! Whole listings of directories, and what we changed in them since. Knows no file system and no clock.

use std::collections::HashMap;
use std::sync::Arc;

use howdah_vfs::{Caller, Handle};

/// An entry as the server listed it. Its attributes are remembered elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEntry {
    /// The name.
    pub name: Box<[u8]>,
    /// The node's number.
    pub file: u64,
    /// Where a listing continues after it.
    pub cookie: u64,
    /// The node, if the listing had it.
    pub node: Option<Handle>,
}

/// Where a name leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    /// To this node.
    To(Handle),
    /// Nowhere: there is no such name.
    Nowhere,
}

/// What changes of ours left of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours {
    /// It is there.
    There,
    /// It is not.
    Gone,
    /// Nobody knows which.
    Unknown,
}

/// A listing of all that was in a directory.
pub struct WholeListing {
    /// Who listed it, or made the directory.
    pub lister: Caller,
    /// Whether the lister made the directory: it may look names up in it.
    pub is_makers: bool,
    /// Whether it has nodes.
    pub has_nodes: bool,
    epoch: u64,
    entries: Arc<[ListedEntry]>,
    by_name: Vec<u32>,
    by_cookie: Vec<u32>,
    /// Names that we changed since.
    ours: HashMap<Vec<u8>, Ours>,
    used: u64,
}

/// Listings, as many as have a bounded number of entries in all. The one that was used least lately goes first.
pub struct Listings {
    whole: HashMap<Handle, WholeListing>,
    entries: usize,
    entries_max: usize,
    uses: u64,
}

impl WholeListing {
    /// What the server listed while the directory was in that epoch.
    pub fn new(lister: Caller, epoch: u64, entries: Vec<ListedEntry>, has_nodes: bool) -> Self {
        let count = entries.len() as u32;
        let (mut by_name, mut by_cookie): (Vec<u32>, Vec<u32>) = ((0..count).collect(), (0..count).collect());
        by_name.sort_unstable_by_key(|at| &entries[*at as usize].name);
        by_cookie.sort_unstable_by_key(|at| entries[*at as usize].cookie);
        let (entries, ours) = (entries.into(), HashMap::new());
        Self { lister, is_makers: false, has_nodes, epoch, entries, by_name, by_cookie, ours, used: 0 }
    }

    /// That of a directory which `maker` has just made.
    pub fn of_new(maker: Caller, epoch: u64) -> Self {
        let empty = Self::new(maker, epoch, Vec::new(), false);
        // No cookie is known: it answers for names alone.
        Self { is_makers: true, ..empty }
    }

    /// Where a name leads, if that is known.
    pub fn leads(&self, name: &[u8]) -> Option<Leads> {
        match self.ours.get(name) {
            Some(Ours::There | Ours::Unknown) => None,
            Some(Ours::Gone) => Some(Leads::Nowhere),
            None => match self.entry(name) {
                Some(entry) => entry.node.map(Leads::To),
                None => Some(Leads::Nowhere),
            },
        }
    }

    /// The names that are there, as far as that is known.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        let listed = self.entries.iter().map(|entry| &*entry.name);
        let listed = listed.filter(|name| !matches!(*name, b"." | b"..") && !self.ours.contains_key(*name));
        let made = self.ours.iter().filter(|(_, is)| **is == Ours::There).map(|(name, _)| &name[..]);
        listed.chain(made)
    }

    fn entry(&self, name: &[u8]) -> Option<&ListedEntry> {
        let at = self.by_name.binary_search_by(|at| (*self.entries[*at as usize].name).cmp(name)).ok()?;
        Some(&self.entries[self.by_name[at] as usize])
    }

    /// All entries, and which of them follows a cookie; `None` if the directory changed since it was listed, or had no such cookie.
    pub fn after(&self, cookie: u64) -> Option<(Arc<[ListedEntry]>, usize)> {
        if !self.ours.is_empty() || self.entries.is_empty() {
            return None;
        }
        let entries = Arc::clone(&self.entries);
        if cookie == 0 {
            return Some((entries, 0));
        }
        let found = self.by_cookie.binary_search_by_key(&cookie, |at| entries[*at as usize].cookie).ok()?;
        let next = self.by_cookie[found] as usize + 1;
        Some((entries, next))
    }

    fn weight(&self) -> usize {
        1 + self.entries.len() + self.ours.len()
    }
}

impl Listings {
    /// None yet, and never more than so many entries.
    pub fn new(entries_max: usize) -> Self {
        Self { whole: HashMap::new(), entries: 0, entries_max, uses: 0 }
    }

    /// The listing of a directory that is in this epoch.
    pub fn get(&mut self, directory: &Handle, epoch: u64) -> Option<&WholeListing> {
        self.uses += 1;
        let whole = self.whole.get_mut(directory).filter(|whole| whole.epoch == epoch)?;
        whole.used = self.uses;
        Some(whole)
    }

    /// Remembers one.
    pub fn insert(&mut self, directory: Handle, mut whole: WholeListing) {
        self.remove(&directory);
        if whole.weight() > self.entries_max {
            return;
        }
        self.uses += 1;
        whole.used = self.uses;
        self.entries += whole.weight();
        self.whole.insert(directory, whole);
        self.shrink();
    }

    /// A change of ours to a name in it is over.
    pub fn set(&mut self, directory: &Handle, name: &[u8], is: Ours) {
        let Some(whole) = self.whole.get_mut(directory) else { return };
        if whole.ours.insert(name.to_vec(), is).is_none() {
            self.entries += 1;
            self.shrink();
        }
    }

    /// A directory and a name in it by which a node was listed.
    pub fn place_of(&self, node: &Handle) -> Option<(Handle, &[u8])> {
        self.whole.iter().find_map(|(directory, whole)| {
            let mut entries = whole.entries.iter().filter(|entry| !matches!(&*entry.name, b"." | b".."));
            entries.find(|entry| entry.node.as_ref() == Some(node)).map(|entry| (*directory, &*entry.name))
        })
    }

    /// Forgets one.
    pub fn remove(&mut self, directory: &Handle) {
        if let Some(whole) = self.whole.remove(directory) {
            self.entries -= whole.weight();
        }
    }

    fn shrink(&mut self) {
        while self.entries > self.entries_max {
            let oldest =
                self.whole.iter().min_by_key(|(_, whole)| whole.used).map(|(directory, _)| *directory);
            let Some(oldest) = oldest else { return };
            self.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(number: u8) -> Handle {
        Handle::new(&[number]).expect("short")
    }

    fn whole(names: &[&str]) -> WholeListing {
        let entry = |(at, name): (usize, &&str)| {
            // Cookies that do not grow, as hashes do not.
            let cookie = 1000 - at as u64;
            ListedEntry {
                name: name.as_bytes().into(),
                file: at as u64,
                cookie,
                node: Some(handle(at as u8)),
            }
        };
        WholeListing::new(Caller::ROOT, 7, names.iter().enumerate().map(entry).collect(), true)
    }

    #[test]
    fn names_are_known_to_be_there_or_not() {
        let mut listings = Listings::new(100);
        listings.insert(handle(0), whole(&["b", "a", "c"]));
        assert!(listings.get(&handle(0), 6).is_none(), "the directory was another one");
        let get = |listings: &mut Listings, name: &str| {
            listings.get(&handle(0), 7).expect("there").leads(name.as_bytes())
        };
        assert_eq!(get(&mut listings, "a"), Some(Leads::To(handle(1))));
        assert_eq!(get(&mut listings, "x"), Some(Leads::Nowhere));
        listings.set(&handle(0), b"a", Ours::Gone);
        listings.set(&handle(0), b"x", Ours::There);
        listings.set(&handle(0), b"b", Ours::Unknown);
        assert_eq!(get(&mut listings, "a"), Some(Leads::Nowhere));
        assert_eq!(get(&mut listings, "x"), None, "it is there, and which node it is was not listed");
        assert_eq!(get(&mut listings, "b"), None);
        assert_eq!(get(&mut listings, "c"), Some(Leads::To(handle(2))));
        assert!(
            listings.get(&handle(0), 7).expect("there").after(0).is_none(),
            "the server lists others now"
        );
    }

    #[test]
    fn a_listing_continues_after_any_cookie() {
        let whole = whole(&["b", "a", "c"]);
        let follows = |cookie| whole.after(cookie).map(|(_, at)| at);
        assert_eq!([0, 1000, 999, 998, 5].map(follows), [Some(0), Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn entries_are_bounded() {
        let mut listings = Listings::new(10);
        for number in 0..5 {
            listings.insert(handle(number), whole(&["a", "b", "c"]));
            assert!(listings.get(&handle(0), 7).is_some(), "what is used stays");
            assert!(listings.entries <= 10);
        }
        assert_eq!(listings.whole.len(), 2);
        listings.insert(handle(9), whole(&["x"; 20]));
        assert!(listings.get(&handle(9), 7).is_none());
    }
}
