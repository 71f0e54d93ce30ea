//! Listings: from memory as far as they are remembered, else from the server, and what is learnt from them.

use std::ops::ControlFlow;

use howdah_vfs::{Access, Caller, Detail, Entry, FileSystem, Handle, ListDirectory, Listing, Node, Result};

use super::AttributeCache;
use super::chain::ChainMoment;
use super::listings::ListedEntry;

/// The most entries of a directory that are listed before the first is given: a larger directory is not remembered whole.
pub(super) const LISTED_MAX: usize = 1 << 14;
/// So many entries are looked up in memory at a time.
const GIVEN_AT_ONCE: usize = 256;

impl AttributeCache {
    /// Whether it can list a directory without asking.
    pub fn knows_listing(&self, caller: &Caller, directory: &Handle) -> bool {
        let time = (self.stopwatch)();
        let known = self.known.lock().entries(caller, directory, (0, true), time);
        known.is_some_and(|(entries, _)| {
            entries.chunks(GIVEN_AT_ONCE).all(|some| self.nodes_of(some).is_some())
        })
    }

    /// Lists a directory from its start, unless it has more entries than can be remembered: then only as many. Says whether that was
    /// all.
    ///
    /// # Errors
    /// As those of READDIRPLUS.
    pub fn list_if_small(
        &self,
        caller: &Caller,
        directory: &Handle,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<bool> {
        let mut room = LISTED_MAX;
        let listing = FileSystem::read_directory(
            self,
            caller,
            ListDirectory::new(directory, 0, detail),
            &mut |entry| {
                if room == 0 {
                    return ControlFlow::Break(());
                }
                room -= 1;
                sink(entry)
            },
        )?;
        Ok(listing.end)
    }

    /// A listing gave names. A caller with the right to look names up need not ask the server for them.
    fn found_all(
        &self,
        caller: &Caller,
        directory: &Handle,
        names: Vec<(Vec<u8>, Handle)>,
        since: ChainMoment,
    ) {
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let rights = known.access(caller, directory, Access::LOOKUP, time);
        // A change of ours meanwhile may have been to one of these names.
        if !known.is_unchanged(directory, since)
            || !rights.is_some_and(|(rights, _)| rights.contains(Access::LOOKUP))
        {
            return;
        }
        for (name, node) in names.iter().filter(|(name, _)| name != b"." && name != b"..") {
            known.found(caller, directory, name, *node);
        }
    }

    /// Gives entries that are remembered, from `cookie` on, which is set to that of the last one given. `None`: what follows must be
    /// asked for.
    pub(super) fn give_known(
        &self,
        caller: &Caller,
        directory: &Handle,
        cookie: &mut u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Option<Listing> {
        let needs_nodes = detail == Detail::Nodes;
        let time = (self.stopwatch)();
        let (entries, next) = self.known.lock().entries(caller, directory, (*cookie, needs_nodes), time)?;
        for some in entries[next..].chunks(GIVEN_AT_ONCE) {
            let nodes = if needs_nodes { self.nodes_of(some)? } else { vec![None; some.len()] };
            for (ListedEntry { name, file, cookie: its, .. }, node) in some.iter().zip(&nodes) {
                if sink(Entry { name, file: *file, cookie: *its, node: node.as_ref() }).is_break() {
                    return Some(Listing {
                        end: false,
                        directory: self.known.lock().attributes(directory, time),
                    });
                }
                *cookie = *its;
            }
        }
        Some(Listing { end: true, directory: self.known.lock().attributes(directory, time) })
    }

    /// The nodes of entries, if the attributes of all are believed.
    fn nodes_of(&self, entries: &[ListedEntry]) -> Option<Vec<Option<Node>>> {
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let mut node_of = |entry: &ListedEntry| {
            let Some(handle) = entry.node else { return Some(None) };
            match known.attributes(&handle, time) {
                Some(attributes) => Some(Some(Node { handle, attributes })),
                // What lies above is seldom looked at: a listing may leave its attributes out.
                None if matches!(&*entry.name, b"." | b"..") => Some(None),
                None => None,
            }
        };
        entries.iter().map(&mut node_of).collect()
    }

    /// Lists a directory from its start, as far as it is remembered whole.
    pub(super) fn list(
        &self,
        caller: &Caller,
        directory: &Handle,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let (since, epoch) = {
            let (mut known, time) = (self.known.lock(), (self.stopwatch)());
            (known.moment(), known.epoch_of(directory, time))
        };
        let (mut entries, mut attributes) = (Vec::new(), Vec::new());
        let listing =
            self.inner.read_directory(caller, ListDirectory::new(directory, 0, detail), &mut |entry| {
                if entries.len() == LISTED_MAX {
                    return ControlFlow::Break(());
                }
                if let Some(node) = entry.node {
                    self.saw(&node.handle, &node.attributes, since);
                }
                attributes.push(entry.node.map(|node| node.attributes));
                let node = entry.node.map(|node| node.handle);
                entries.push(ListedEntry {
                    name: entry.name.into(),
                    file: entry.file,
                    cookie: entry.cookie,
                    node,
                });
                ControlFlow::Continue(())
            })?;
        let is_believed = listing.directory.as_ref().is_some_and(|now| self.saw(directory, now, since));
        if listing.end {
            self.compare(directory, &entries, since);
        }
        if is_believed {
            let listed = entries.iter().filter(|entry| !matches!(&*entry.name, b"." | b".."));
            self.known.lock().cover(directory, since, listed.filter_map(|entry| entry.node));
            if let Some(epoch) = epoch.filter(|_| listing.end) {
                let place = (directory, epoch, since);
                self.known.lock().listed(caller, place, entries.clone(), detail == Detail::Nodes);
            } else {
                let names = entries.iter().filter_map(|entry| Some((entry.name.to_vec(), entry.node?)));
                self.found_all(caller, directory, names.collect(), since);
            }
        }
        for (ListedEntry { name, file, cookie, node }, attributes) in entries.iter().zip(attributes) {
            let node = node.zip(attributes).map(|(handle, attributes)| Node { handle, attributes });
            if sink(Entry { name, file: *file, cookie: *cookie, node: node.as_ref() }).is_break() {
                return Ok(Listing { end: false, ..listing });
            }
        }
        match entries.last().filter(|_| !listing.end) {
            Some(last) => self.list_on(caller, directory, last.cookie, detail, sink),
            None => Ok(listing),
        }
    }

    /// Lists what follows a cookie.
    pub(super) fn list_on(
        &self,
        caller: &Caller,
        directory: &Handle,
        cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let since = self.known.lock().moment();
        let mut found = Vec::new();
        let listing =
            self.inner.read_directory(caller, ListDirectory { directory, cookie, detail }, &mut |entry| {
                if let Some(node) = entry.node {
                    self.saw(&node.handle, &node.attributes, since);
                    found.push((entry.name.to_vec(), node.handle));
                }
                sink(entry)
            })?;
        if let Some(attributes) = &listing.directory
            && self.saw(directory, attributes, since)
        {
            self.found_all(caller, directory, found, since);
        }
        Ok(listing)
    }
}
