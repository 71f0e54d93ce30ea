//! Listings of directories in which names are pending: each is put together once, and read on from there.

use std::collections::HashSet;
use std::ops::ControlFlow;

use howdah_vfs::{
    Access, Caller, Detail, Entry, FileKind, FsError, Handle, ListDirectory, Listing, Node, Result,
};
use parking_lot::Mutex;

use super::NamesBehind;
use super::grounds::granted;
use super::listings::{Listed, Whole};
use super::log::Log;
use super::order::NodeNumber;
use super::shared::NodeSide;
use super::tree::{MadeNode, Whereabouts};

impl NamesBehind {
    /// Lists a directory.
    pub(super) fn list(
        &self,
        caller: &Caller,
        list: &ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        if let Some((number, place)) = self.listings.place(list.cookie) {
            let whole = self.listings.get(number).filter(|whole| whole.of == *list.directory);
            let whole = whole.ok_or(FsError::BadCookie)?;
            return Ok(self.listings.give((number, &whole), place, list.detail, sink));
        }
        let (real, is_quiet) = self.real_to_list(caller, list)?;
        match real {
            Some(real) if is_quiet || list.cookie != 0 => self.list_there(caller, &real, list, sink),
            real => {
                let whole = self.put_together(caller, list, real.as_ref())?;
                let (number, whole) = self.listings.keep(whole);
                Ok(self.listings.give((number, &whole), 0, list.detail, sink))
            }
        }
    }

    /// The server's handle of a directory, if it has it, and whether nothing at all is pending.
    fn real_to_list(&self, caller: &Caller, list: &ListDirectory<'_>) -> Result<(Option<Handle>, bool)> {
        self.settle_attributes(list.directory, |new| new.mode.is_some());
        let log = self.shared.log.lock();
        let side = self.shared.side(&log, list.directory)?;
        let real = match side {
            NodeSide::There(real) => Some(real),
            // It is there, but not finished.
            NodeSide::Here(id) => {
                may_list(&log, id, caller)?;
                match log.tree.get(id).map(|known| known.at) {
                    Some(Whereabouts::There(real)) => Some(real),
                    _ => None,
                }
            }
        };
        Ok((real, log.order.len() == 0))
    }

    /// Lists what the server has while nothing is pending, with the handles that programs know.
    fn list_there(
        &self,
        caller: &Caller,
        real: &Handle,
        list: &ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let since = self.shared.since();
        let its = ListDirectory::new(real, list.cookie, list.detail);
        let listing = self.shared.inner.read_directory(caller, its, &mut |entry| {
            if self.is_pending_gone(list.directory, entry.name) {
                return ControlFlow::Continue(());
            }
            let node = entry.node.map(|node| self.shared.shown_as_was(*node));
            self.found_directory(list.directory, entry.name, node.as_ref());
            let file = node.map_or_else(|| self.file(entry.file), |node| node.attributes.file);
            sink(Entry { node: node.as_ref(), file, ..entry })
        })?;
        let directory =
            listing.directory.map(|seen| self.shared.presented(caller, since, list.directory, seen));
        Ok(Listing { directory, ..listing })
    }

    /// What the server has, without what is gone here, and with what it does not have yet.
    fn put_together(
        &self,
        caller: &Caller,
        list: &ListDirectory<'_>,
        real: Option<&Handle>,
    ) -> Result<Whole> {
        // What is pending before the server is asked, so that nothing is missed that gets there meanwhile.
        let (since, pending) = (self.shared.since(), self.pending_names(list.directory));
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        if real.is_none() {
            let above = howdah_vfs::layer::Layer::parent(self, caller, list.directory)?.node.attributes.file;
            let own = self.attributes_of(caller, list.directory)?.file;
            for (name, file) in [(&b"."[..], own), (b"..", above)] {
                entries.push(Listed { name: name.to_vec(), file, node: None });
            }
        }
        let mut directory = None;
        let mut cookie = 0;
        while let Some(real) = real {
            let its = ListDirectory::new(real, cookie, list.detail);
            let listing = self.shared.inner.read_directory(caller, its, &mut |entry| {
                cookie = entry.cookie;
                if pending.iter().all(|(name, _)| *name != entry.name) && seen.insert(entry.name.to_vec()) {
                    let (name, file, node) = (entry.name.to_vec(), entry.file, entry.node.copied());
                    entries.push(Listed { name, file, node });
                }
                ControlFlow::Continue(())
            })?;
            directory = listing.directory.or(directory);
            if listing.end {
                break;
            }
        }
        // Not while the server lists: it may be asked again.
        for entry in &mut entries {
            entry.node = entry.node.map(|node| self.shared.shown(caller, since, node));
            self.found_directory(list.directory, &entry.name, entry.node.as_ref());
            entry.file = entry.node.map_or_else(|| self.file(entry.file), |node| node.attributes.file);
        }
        let directory = match directory {
            Some(seen) => self.shared.presented(caller, since, list.directory, seen),
            None => self.attributes_of(caller, list.directory)?,
        };
        for (name, handle) in pending {
            let Some(handle) = handle else { continue };
            // One that is gone meanwhile is not there.
            let Ok(attributes) = self.attributes_of(caller, &handle) else { continue };
            let node = (list.detail == Detail::Nodes).then_some(Node { handle, attributes });
            entries.push(Listed { name, file: attributes.file, node });
        }
        let (of, directory) = (*list.directory, Some(directory));
        Ok(Whole { of, directory, entries, gone: Mutex::default() })
    }

    fn found_directory(&self, directory: &Handle, name: &[u8], node: Option<&Node>) {
        let is_directory = |node: &&Node| node.attributes.kind == FileKind::Directory;
        if let Some(node) = node.filter(is_directory).filter(|_| name != b"." && name != b"..") {
            self.shared.log.lock().found_directory(directory, name, node.handle);
        }
    }

    /// Whether a name is taken away that the server still has.
    fn is_pending_gone(&self, directory: &Handle, name: &[u8]) -> bool {
        let log = self.shared.log.lock();
        let id = log.tree.find(directory);
        id.and_then(|id| log.tree.name(id, name)).is_some_and(|overlaid| overlaid.node.is_none())
    }

    /// Whether a directory has no names, here and at the server.
    pub(super) fn is_empty(&self, caller: &Caller, directory: &Handle) -> Result<bool> {
        if self.is_ours(directory) {
            let log = self.shared.log.lock();
            if log.tree.find(directory).is_some_and(|id| log.tree.owns_nothing(id)) {
                return Ok(true);
            }
        }
        let list = ListDirectory::new(directory, 0, Detail::Names);
        let real = self.real_to_list(caller, &list)?.0;
        let whole = self.put_together(caller, &list, real.as_ref())?;
        Ok(whole.entries.iter().all(|entry| entry.name == b"." || entry.name == b".."))
    }

    /// The file number that programs see of a node of the server.
    fn file(&self, server: u64) -> u64 {
        self.shared.log.lock().tree.file(server)
    }

    /// The names of a directory that are pending, and the nodes that have them; those that are gone have none.
    fn pending_names(&self, directory: &Handle) -> Vec<(Vec<u8>, Option<Handle>)> {
        let log = self.shared.log.lock();
        let names = log.tree.find(directory).and_then(|id| log.tree.names(id));
        let named = names.into_iter().flat_map(|names| &names.entries);
        let handle = |node| log.tree.get(node).map(|known| known.shown);
        named.map(|(name, overlaid)| (name.clone(), overlaid.node.and_then(handle))).collect()
    }
}

/// Whether a caller may list what was made here.
fn may_list(log: &Log, id: NodeNumber, caller: &Caller) -> Result<()> {
    let coming = log.tree.get(id).and_then(|known| known.coming.as_ref()).ok_or(FsError::Stale)?;
    let rights = granted(caller, &coming.attributes, coming.caller.user == caller.user);
    match coming.what {
        MadeNode::Directory if rights.contains(Access::READ) => Ok(()),
        MadeNode::Directory => Err(FsError::AccessDenied),
        _ => Err(FsError::NotDirectory),
    }
}
