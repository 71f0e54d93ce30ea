//! Where nodes are: how a handle becomes an open node, and what the operations report of names that come, go and move. Where
//! the kernel opens handles, nothing is reported.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use howdah_vfs::{FsError, Handle, Name, Result, Timestamp};

use super::LocalFileSystem;
use super::attributes::Seen;
use super::errno::refusal;
use super::handles::{Form, digest, kernel_open};
use super::identify::identify;
use super::known::Known;
use super::node::Node;
use super::outside::Position;

impl LocalFileSystem {
    /// Opens the node of a handle to look at it, as the superuser.
    pub(super) fn open_by_handle(&self, handle: &Handle) -> Result<OwnedFd> {
        // Perhaps without a name by now.
        if let Some(held) = self.held.find(handle) {
            return Ok(held);
        }
        if let Some(finder) = &self.finder {
            return finder.find(handle, &self.nodes);
        }
        let (mark, form) = Form::parse(handle)?;
        let node = match (mark, &self.maker.mounts) {
            (None, _) => kernel_open(self.tree.mount.as_ref().ok_or(FsError::Stale)?.as_fd(), form)?,
            (Some(mark), Some(mounts)) => kernel_open(mounts.way_into(mark)?.as_fd(), form)?,
            // Made when this export crossed mounts.
            (Some(_), None) => return Err(FsError::Stale),
        };
        if !self.maker.is_own(handle, mark, form) && self.remade(&node)? != *handle {
            return Err(FsError::BadHandle);
        }
        if mark.is_none()
            && self.tree.position(node.as_fd(), self.maker.mounts.as_deref()) == Position::Outside
        {
            return Err(FsError::Stale);
        }
        Ok(node)
    }

    fn remade(&self, node: &OwnedFd) -> Result<Handle> {
        let seen = identify(node.as_fd()).map_err(refusal)?;
        self.maker.of_open(node.as_fd(), &seen)
    }

    /// The handle of a node that was seen under a name at `now` or later, if it is known.
    pub(super) fn known_handle(
        &self,
        directory: &Node,
        name: Name<'_>,
        seen: &Seen,
        now: Timestamp,
    ) -> Option<Handle> {
        let known = self.known.find(&seen.identification, now).filter(|_| self.is_on_root(seen))?;
        if self.finder.is_some() && known.place != digest(&directory.handle, name) {
            self.on_seen(directory, name, seen, now, &known.handle);
        }
        Some(known.handle)
    }

    /// The handle of a node that was seen under a name at `now` or later, without opening it: from memory, or from the
    /// kernel. `None` if the name may have gone to another node meanwhile.
    pub(super) fn handle_of_name(
        &self,
        directory: &Node,
        terminated: &CStr,
        name: Name<'_>,
        seen: &Seen,
        now: Timestamp,
    ) -> Option<Handle> {
        if let Some(handle) = self.known_handle(directory, name, seen, now) {
            return Some(handle);
        }
        let handle = self.maker.of_name(directory.descriptor(), terminated, &seen.identification)?;
        self.on_seen(directory, name, seen, now, &handle);
        Some(handle)
    }

    /// A node was seen under a name: keeps its handle, and its place if that is needed to find it again.
    pub(super) fn on_seen(
        &self,
        directory: &Node,
        name: Name<'_>,
        seen: &Seen,
        now: Timestamp,
        handle: &Handle,
    ) {
        let place = match &self.finder {
            Some(finder) => {
                finder.on_seen(handle, &directory.handle, name);
                digest(&directory.handle, name)
            }
            None => 0,
        };
        if self.is_on_root(seen) {
            self.known.keep(&seen.identification, now, Known { handle: *handle, place });
        }
    }

    /// Whether a node lies on the root's file system, the only one whose kind is known.
    fn is_on_root(&self, seen: &Seen) -> bool {
        !self.tree.crosses_mounts || seen.identification.device == self.tree.device
    }

    /// A node is about to lose a name. Its handle, if the index needs it when the name is gone.
    pub(super) fn before_name_goes(&self, directory: &Node, name: Name<'_>, seen: &Seen) -> Option<Handle> {
        self.finder.as_ref()?;
        let file = seen.identification.file;
        // File numbers are only unique within one file system.
        let is_on_root = |handle: &Handle| matches!(Form::parse(handle), Ok((None, _)));
        let is_here = seen.identification.device == self.tree.device;
        let open = self.nodes.handle_of(file).filter(|handle| is_here && is_on_root(handle));
        open.or_else(|| self.open_child(directory, name).ok().map(|(node, _)| node.handle))
    }

    /// The node lost its last name.
    pub(super) fn on_gone(&self, seen: &Seen, handle: Option<Handle>) {
        self.nodes.forget_file(seen.identification.file);
        self.known.forget(seen.identification.file, seen.identification.device);
        if let (Some(finder), Some(handle)) = (&self.finder, handle) {
            finder.on_gone(&handle);
        }
    }
}
