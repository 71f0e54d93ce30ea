//! The open nodes, by their handles: found open, or opened, and looked at.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use howdah_vfs::{Attributes, FileKind, FsError, Handle, KeptOpen, Result};

use super::attributes::AttributeReader;
use super::cache::NodeCache;
use super::errno::refusal;
use super::handle_table::HandleTable;
use super::held_files::HeldFiles;
use super::identify::identify;
use super::identity::Identity;
use super::known::Identification;
use super::node::Node;
use super::open_error::OpenError;
use super::options::Options;
use super::root::Root;
use super::tree::{LOOK, Tree};

/// The open nodes of a directory.
pub(super) struct OpenNodes {
    tree: Arc<Tree>,
    identity: Identity,
    attributes: AttributeReader,
    handles: HandleTable,
    cache: Arc<NodeCache>,
    held: Arc<HeldFiles>,
    root: Arc<Node>,
}

impl OpenNodes {
    /// Opens the root. `cache` keeps the others open.
    pub(super) fn open(
        root: &Root,
        identity: Identity,
        cache: &Arc<NodeCache>,
        options: &Options,
    ) -> std::result::Result<Self, OpenError> {
        let (tree, directory) = (Arc::clone(root.tree()), root.directory());
        let path = tree.open_name(tree.root(), b".", LOOK);
        let path = path.map_err(|cause| OpenError::new("opening", directory, cause))?;
        let seen = identify(tree.root()).map_err(refusal);
        let named = seen.and_then(|seen| Ok((root.maker().of_open(tree.root(), &seen)?, seen)));
        let (handle, seen) = named.map_err(|cause| {
            OpenError::new("making a handle for", directory, std::io::Error::other(cause))
        })?;
        let node = cache.pinned(handle, path);
        node.found(&seen);
        let handles = HandleTable::open(root, handle, options)?;
        let (attributes, held) = (AttributeReader::new(&tree), HeldFiles::new(cache));
        Ok(Self { tree, identity, attributes, handles, cache: Arc::clone(cache), held, root: node })
    }

    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// As whom nodes are opened and worked on.
    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn cache(&self) -> &NodeCache {
        &self.cache
    }

    pub(super) fn attributes(&self) -> &AttributeReader {
        &self.attributes
    }

    pub(super) fn handles(&self) -> &HandleTable {
        &self.handles
    }

    /// The open node of a handle.
    pub(super) fn node(&self, handle: &Handle) -> Result<Arc<Node>> {
        match self.cache.get(handle) {
            Some(node) => Ok(node),
            None => self.open_handle(handle),
        }
    }

    #[cold]
    fn open_handle(&self, handle: &Handle) -> Result<Arc<Node>> {
        if *handle == self.root.handle {
            return Ok(Arc::clone(&self.root));
        }
        self.identity.assume_root()?;
        // A file that is held has perhaps no name by now.
        let held = self.held.find(handle);
        let opened = held.map_or_else(|| self.handles.open_node(handle, &self.cache), Ok);
        if matches!(opened, Err(FsError::Stale)) {
            self.forget(handle);
        }
        let node = self.cache.insert(*handle, opened?);
        if let Ok(identification) = identify(node.descriptor()) {
            node.found(&identification);
        }
        Ok(node)
    }

    /// Takes in a node that was opened to be looked at.
    pub(super) fn insert(&self, handle: Handle, path: OwnedFd, seen: &Identification) -> Arc<Node> {
        let node = self.cache.insert(handle, path);
        node.found(seen);
        node
    }

    /// Keeps a file open until what is returned is dropped.
    pub(super) fn keep_open(&self, file: &Handle) -> Option<KeptOpen> {
        let node = self.node(file).ok()?;
        self.held.hold(&self.tree, &node)
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> &HeldFiles {
        &self.held
    }

    /// Lets go of a node that is gone.
    fn forget(&self, handle: &Handle) {
        self.cache.forget(handle);
        self.handles.forget(handle);
    }

    /// The attributes of an open node as clients see them; refused once its last name is gone.
    pub(super) fn stat(&self, node: &Node) -> Result<Attributes> {
        self.stat_as_kernel(node).map(|found| self.attributes.times().seen(&found))
    }

    /// The same right after a call of ours made or linked it.
    pub(super) fn stat_changed(&self, node: &Node) -> Result<Attributes> {
        self.stat_as_kernel(node).map(|found| self.attributes.times().changed(None, &found, true))
    }

    /// The same with the time of change that the kernel gives it.
    pub(super) fn stat_as_kernel(&self, node: &Node) -> Result<Attributes> {
        let found = self.attributes.of_node(node).map_err(refusal)?;
        if found.links == 0 && !self.held.has(&node.handle) {
            self.forget(&node.handle);
            return Err(FsError::Stale);
        }
        Ok(found)
    }

    /// As [`Self::stat`], for a node that must be a directory.
    pub(super) fn stat_directory(&self, node: &Node) -> Result<Attributes> {
        let attributes = self.stat(node)?;
        match attributes.kind {
            FileKind::Directory => Ok(attributes),
            _ => Err(FsError::NotDirectory),
        }
    }
}
