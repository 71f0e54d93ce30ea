//! Which names lead where, by single answers and by whole listings. Knows no file system and no clock.

use std::collections::HashSet;
use std::sync::Arc;

use howdah_vfs::{Access, Caller, Handle};

use super::listings::{Leads, ListedEntry, Listings, Ours, WholeListing};
use crate::generations::Generations;

/// So many names of a path are shown.
const DEPTH_MAX: usize = 64;

/// A directory as it is now: names that were found while it was in another epoch are not believed.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// The directory.
    pub directory: &'p Handle,
    /// Its epoch.
    pub epoch: u64,
    /// What the caller at hand may do in it, as far as that is known.
    pub rights: Access,
}

/// All that is known of names.
pub struct CachedNames {
    single: Generations<(Handle, Vec<u8>), KnownName>,
    listings: Listings,
}

struct KnownName {
    caller: Caller,
    leads: Leads,
    epoch: u64,
}

impl CachedNames {
    /// Nothing yet; at most so many single names, and as many in listings.
    pub fn new(entries: usize) -> Self {
        Self { single: Generations::new(entries), listings: Listings::new(entries) }
    }

    /// Where a name leads, if the server would let this caller know.
    pub fn leads(&mut self, caller: &Caller, place: Place<'_>, name: &[u8]) -> Option<Leads> {
        let single = self.single.get_mut(&(*place.directory, name.to_vec()));
        let single = single.filter(|known| known.epoch == place.epoch && known.caller == *caller);
        if let Some(known) = single {
            return Some(known.leads);
        }
        let whole = self.listings.get(place.directory, place.epoch)?;
        let is_maker = whole.is_makers && whole.lister == *caller;
        if !is_maker && !place.rights.contains(Access::LOOKUP) {
            return None;
        }
        whole.leads(name)
    }

    /// A caller learnt where a name leads.
    pub fn found(&mut self, caller: &Caller, place: Place<'_>, name: &[u8], leads: Leads) {
        let known = KnownName { caller: caller.clone(), leads, epoch: place.epoch };
        self.single.insert((*place.directory, name.to_vec()), known);
    }

    /// A change of ours put a name into a directory.
    pub fn made(&mut self, directory: &Handle, name: &[u8]) {
        self.listings.set(directory, name, Ours::There);
    }

    /// A change of ours took a name out of a directory. Gives where it led; `None` if nobody knows.
    pub fn taken(&mut self, place: Place<'_>, name: &[u8]) -> Option<Leads> {
        let led = self.led(place, name);
        self.forget(place.directory, name);
        self.listings.set(place.directory, name, Ours::Gone);
        led
    }

    /// Where a name leads now or led lately, for any caller.
    pub fn led(&mut self, place: Place<'_>, name: &[u8]) -> Option<Leads> {
        let single = self.single.get_mut(&(*place.directory, name.to_vec()));
        // That a name was absent once says nothing of later.
        let is_telling = |known: &&mut KnownName| known.epoch == place.epoch || known.leads != Leads::Nowhere;
        if let Some(known) = single.filter(is_telling) {
            return Some(known.leads);
        }
        self.listings.get(place.directory, place.epoch)?.leads(name)
    }

    /// What a name leads to is not known any more.
    pub fn forget(&mut self, directory: &Handle, name: &[u8]) {
        self.single.remove(&(*directory, name.to_vec()));
    }

    /// Changes of ours to a name ended so that nobody knows whether it is there.
    pub fn lost(&mut self, directory: &Handle, name: &[u8]) {
        self.forget(directory, name);
        self.listings.set(directory, name, Ours::Unknown);
    }

    /// All that is in a directory was listed.
    pub fn listed(&mut self, caller: &Caller, place: Place<'_>, entries: Vec<ListedEntry>, has_nodes: bool) {
        let whole = WholeListing::new(caller.clone(), place.epoch, entries, has_nodes);
        self.listings.insert(*place.directory, whole);
    }

    /// A caller made a directory: nothing is in it.
    pub fn made_directory(&mut self, maker: &Caller, directory: Handle, epoch: u64) {
        self.listings.insert(directory, WholeListing::of_new(maker.clone(), epoch));
    }

    /// The entries of a directory, and which of them follows a cookie, if the server would list them to this caller as they were.
    pub fn entries(
        &mut self,
        caller: &Caller,
        place: Place<'_>,
        cookie: u64,
        needs_nodes: bool,
    ) -> Option<(Arc<[ListedEntry]>, usize)> {
        let whole = self.listings.get(place.directory, place.epoch)?;
        let may_list = whole.lister == *caller || place.rights.contains(Access::READ);
        if may_list && (whole.has_nodes || !needs_nodes) { whole.after(cookie) } else { None }
    }

    /// Whether a listing of all that is in a directory says otherwise than what is known of its names. `is_node`: whether an entry is of
    /// a node with another handle.
    pub fn differ(
        &mut self,
        place: Place<'_>,
        entries: &[ListedEntry],
        is_node: &mut dyn FnMut(&Handle, &ListedEntry) -> bool,
    ) -> bool {
        let named = |entry: &&ListedEntry| !matches!(&*entry.name, b"." | b"..");
        let listed: HashSet<&[u8]> = entries.iter().filter(named).map(|entry| &*entry.name).collect();
        let whole = self.listings.get(place.directory, place.epoch);
        if whole.is_some_and(|whole| whole.names().any(|name| !listed.contains(name))) {
            return true;
        }
        entries.iter().filter(named).any(|entry| {
            let single = self.single.get_mut(&(*place.directory, entry.name.to_vec()));
            let single = single.filter(|known| known.epoch == place.epoch).map(|known| known.leads);
            let leads =
                single.or_else(|| self.listings.get(place.directory, place.epoch)?.leads(&entry.name));
            match (leads, entry.node) {
                (Some(Leads::Nowhere), _) => true,
                (Some(Leads::To(node)), Some(its)) => node != its && !is_node(&node, entry),
                _ => false,
            }
        })
    }

    /// The names that lead to a node, as far as they are known, with a slash between two.
    pub fn path(&self, node: &Handle) -> Vec<u8> {
        let (mut path, mut node) = (Vec::new(), *node);
        for _ in 0..DEPTH_MAX {
            let single = self.single.iter().find(|(_, known)| known.leads == Leads::To(node));
            let single = single.map(|((directory, name), _)| (*directory, &name[..]));
            let Some((directory, name)) = single.or_else(|| self.listings.place_of(&node)) else { break };
            path = [name, if path.is_empty() { b"" } else { b"/" }, &path].concat();
            node = directory;
        }
        path
    }
}
