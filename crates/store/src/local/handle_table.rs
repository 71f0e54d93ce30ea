//! Which handle a node has and which node a handle opens, and what the operations report of names that come, go and move. Where
//! the kernel opens handles, nothing is reported.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Name, Result, Timestamp};
use rustix::fs::syncfs;
use rustix::io::Errno;

use super::cache::NodeCache;
use super::errno::refusal;
use super::handles::{Finder, Form, Maker, digest, file_number, kernel_open};
use super::known::{Identification, KnownHandles};
use super::node::Node;
use super::open_error::OpenError;
use super::options::{HandleSource, Options};
use super::outside::Position;
use super::root::Root;
use super::tree::Tree;

/// The handles of a directory's nodes.
pub(super) struct HandleTable {
    tree: Arc<Tree>,
    maker: Maker,
    known: KnownHandles,
    /// Finds nodes where the kernel opens no handles.
    finder: Option<Finder>,
}

impl HandleTable {
    /// The table for a directory whose handle is known.
    pub(super) fn open(
        root: &Root,
        handle: Handle,
        options: &Options,
    ) -> std::result::Result<Self, OpenError> {
        let (tree, maker) = (Arc::clone(root.tree()), root.maker().clone());
        let known = KnownHandles::new(if tree.is_usual() { options.known_handles } else { 0 });
        let finder = match root.handles() {
            HandleSource::Kernel => None,
            HandleSource::Index => Some(Finder::open(&tree, &maker, handle, options.state.as_deref())?),
        };
        Ok(Self { tree, maker, known, finder })
    }

    /// Opens the node of a handle to look at it, as the superuser. `nodes`: those that are open.
    pub(super) fn open_node(&self, handle: &Handle, nodes: &NodeCache) -> Result<OwnedFd> {
        if let Some(finder) = &self.finder {
            return finder.find(handle, nodes);
        }
        let (mark, form) = Form::parse(handle)?;
        let node = match (mark, &self.maker.mounts) {
            (None, _) => kernel_open(self.tree.mount().ok_or(FsError::Stale)?, form)?,
            (Some(mark), Some(mounts)) => kernel_open(mounts.way_into(mark)?.as_fd(), form)?,
            // Made when this export crossed mounts.
            (Some(_), None) => return Err(FsError::Stale),
        };
        if !self.maker.is_own(handle, mark, form) && self.maker.of(node.as_fd())? != *handle {
            return Err(FsError::BadHandle);
        }
        if mark.is_none()
            && self.tree.position(node.as_fd(), self.maker.mounts.as_deref()) == Position::Outside
        {
            return Err(FsError::Stale);
        }
        Ok(node)
    }

    /// The handle of an open node that was seen like this.
    pub(super) fn of_open(&self, node: BorrowedFd<'_>, seen: &Identification) -> Result<Handle> {
        self.maker.of_open(node, seen)
    }

    /// The handle of a node that was seen under a name at `now` or later, if it is known.
    pub(super) fn known(
        &self,
        directory: &Node,
        name: Name<'_>,
        seen: &Identification,
        now: Timestamp,
    ) -> Option<Handle> {
        let (handle, place) = self.known.find(seen, now).filter(|_| self.is_on_root(seen))?;
        if self.keeps_places() && place != digest(&directory.handle, name) {
            self.on_seen(directory, name, seen, now, &handle);
        }
        Some(handle)
    }

    /// The handle of a node that was seen under a name at `now` or later, without opening it: from memory, or from the
    /// kernel. `None` if the name may have gone to another node meanwhile.
    pub(super) fn of_name(
        &self,
        directory: &Node,
        terminated: &CStr,
        name: Name<'_>,
        seen: &Identification,
        now: Timestamp,
    ) -> Option<Handle> {
        if let Some(handle) = self.known(directory, name, seen, now) {
            return Some(handle);
        }
        let handle = self.maker.of_name(directory.descriptor(), terminated, seen)?;
        self.on_seen(directory, name, seen, now, &handle);
        Some(handle)
    }

    /// A node was seen under a name: keeps its handle, and its place if that is needed to find it again.
    pub(super) fn on_seen(
        &self,
        directory: &Node,
        name: Name<'_>,
        seen: &Identification,
        now: Timestamp,
        handle: &Handle,
    ) {
        self.on_named(directory, name, handle);
        let place = if self.keeps_places() { digest(&directory.handle, name) } else { 0 };
        if self.is_on_root(seen) {
            self.known.keep(seen, now, (*handle, place));
        }
    }

    /// A node has this name now: keeps its place if that is needed to find it again.
    pub(super) fn on_named(&self, directory: &Node, name: Name<'_>, handle: &Handle) {
        if let Some(finder) = &self.finder {
            finder.on_seen(handle, &directory.handle, name);
        }
    }

    /// Whether places are needed to find nodes again.
    pub(super) fn keeps_places(&self) -> bool {
        self.finder.is_some()
    }

    /// Whether a node lies on the root's file system, the only one whose kind is known.
    fn is_on_root(&self, seen: &Identification) -> bool {
        !self.tree.crosses_mounts() || seen.device == self.tree.device
    }

    /// A node lost its last name. Its handle, if the index is to know.
    pub(super) fn on_gone(&self, seen: &Identification, handle: Option<Handle>) {
        self.known.forget(seen.file, seen.device);
        if let (Some(finder), Some(handle)) = (&self.finder, handle) {
            finder.on_gone(&handle);
        }
    }

    /// A handle leads nowhere.
    pub(super) fn forget(&self, handle: &Handle) {
        self.known.forget(file_number(handle), self.tree.device);
    }

    /// Refuses the directory above another one if it lies outside of the export.
    pub(super) fn require_inside(&self, directory: BorrowedFd<'_>) -> Result<()> {
        // In a mount of its own the kernel itself lets no `..` lead out.
        if self.tree.is_own_mount() {
            return Ok(());
        }
        match self.tree.is_inside(directory, self.maker.mounts.as_deref()) {
            Ok(true) => Ok(()),
            Ok(false) | Err(Errno::NOENT) => Err(FsError::Stale),
            Err(errno) => Err(refusal(errno)),
        }
    }

    /// Makes durable all of the file system that a node lies on.
    pub(super) fn sync_file_system(&self, handle: &Handle) -> Result<()> {
        let way = match (Form::parse(handle)?.0, &self.maker.mounts) {
            (Some(mark), Some(mounts)) => Some(mounts.way_into(mark)?),
            _ => None,
        };
        // Of a root that an ordinary user may not read there is no descriptor to sync by.
        let Some(mount) = way.as_ref().map(|way| way.as_fd()).or(self.tree.mount()) else { return Ok(()) };
        syncfs(mount).map_err(refusal)
    }
}
