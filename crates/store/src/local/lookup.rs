//! LOOKUP of a name and of the parent, READLINK, and the ways from a name to an open node.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, FileKind, Found, FsError, Handle, Name, Node as Named, Result, Timestamp,
};
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::attributes::Seen;
use super::errno::refusal;
use super::handles::Form;
use super::known::{Identification, now};
use super::node::Node;
use super::open_nodes::OpenNodes;
use super::syscall;
use super::tree::LOOK;

/// The longest target of a symbolic link, in bytes (Linux' PATH_MAX).
const LONGEST_TARGET: usize = 4096;

/// The nodes of a directory by their names.
pub(super) struct NamedNodes {
    nodes: Arc<OpenNodes>,
}

impl NamedNodes {
    pub(super) fn new(nodes: Arc<OpenNodes>) -> Self {
        Self { nodes }
    }

    /// LOOKUP: `fstat` of the directory and `statx` of the name; `name_to_handle_at` if the handle is not known; and if
    /// that could be another node's, the node is opened.
    pub(super) fn look_up(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let directory = self.nodes.node(directory)?;
        // Before the name is looked up: a client that caches the answer then sees a later change of the directory.
        let attributes = self.nodes.stat_directory(&directory)?;
        self.nodes.identity().assume(caller)?;
        let now = now();
        let terminated = Terminated::new(name);
        let terminated = terminated.as_c_str();
        let seen = self.nodes.attributes().look_at(directory.descriptor(), terminated).map_err(refusal)?;
        if self.hides(&seen) {
            // A mount point that the export does not cross, where the directory underneath cannot be seen either.
            return Err(FsError::AccessDenied);
        }
        let handle = self.nodes.handles().of_name(&directory, terminated, name, &seen.identification, now);
        let node = match handle {
            Some(handle) => Named { handle, attributes: seen.attributes },
            None => self.child(&directory, name)?.1,
        };
        Ok(Found { node, directory: Some(attributes) })
    }

    /// LOOKUP of `..`.
    pub(super) fn look_up_parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        let directory = self.nodes.node(directory)?;
        let attributes = self.nodes.stat_directory(&directory)?;
        self.nodes.identity().assume(caller)?;
        syscall::access(directory.descriptor(), libc::X_OK).map_err(refusal)?;
        let node = self.parent_of(&directory)?;
        Ok(Found { node, directory: Some(attributes) })
    }

    /// The directory above, which is the root itself for the root, and refused for a directory that others moved
    /// out of the export.
    pub(super) fn parent_of(&self, directory: &Node) -> Result<Named> {
        self.nodes.identity().assume_root()?;
        let (root, handles) = (self.nodes.root(), self.nodes.handles());
        if directory.handle == root.handle {
            return Ok(Named { handle: root.handle, attributes: self.nodes.stat(root)? });
        }
        let parent = open_above(directory.descriptor())?;
        handles.require_inside(parent.as_fd())?;
        let seen = self.nodes.attributes().look(parent.as_fd(), b"").map_err(refusal)?;
        let handle = handles.of_open(parent.as_fd(), &seen.identification)?;
        if handle != root.handle {
            self.nodes.insert(handle, parent, &seen.identification);
        }
        Ok(Named { handle, attributes: seen.attributes })
    }

    /// Opens a name in a directory to look at it, as the caller that the thread acts as.
    pub(super) fn child(&self, directory: &Node, name: Name<'_>) -> Result<(Arc<Node>, Named)> {
        let (child, seen, handle) = self.open_child(directory, name, now())?;
        let node = self.nodes.insert(handle, child, &seen.identification);
        Ok((node, Named { handle, attributes: seen.attributes }))
    }

    /// The same, and does not keep it open. `now`: the time then, or before.
    pub(super) fn open_child(
        &self,
        directory: &Node,
        name: Name<'_>,
        now: Timestamp,
    ) -> Result<(OwnedFd, Seen, Handle)> {
        let opened = self.nodes.tree().open_name(directory.descriptor(), name.as_bytes(), LOOK);
        let child = opened.map_err(|errno| match errno {
            // Another mount begins there, and this export does not cross mounts.
            Errno::XDEV => FsError::AccessDenied,
            errno => refusal(errno),
        })?;
        let seen = self.nodes.attributes().look(child.as_fd(), b"").map_err(refusal)?;
        let handle = self.nodes.handles().of_open(child.as_fd(), &seen.identification)?;
        self.nodes.handles().on_seen(directory, name, &seen.identification, now, &handle);
        Ok((child, seen, handle))
    }

    /// Whether a node lies behind a mount that the export does not cross.
    pub(super) fn hides(&self, seen: &Seen) -> bool {
        seen.is_mount && !self.nodes.tree().is_own_mount() && !self.nodes.tree().crosses_mounts()
    }

    /// Takes a name away, and lets go of the node if it was the last one: kept open, it would keep its space. `seen`: the node.
    pub(super) fn unlink(
        &self,
        directory: &Node,
        name: Name<'_>,
        how: AtFlags,
        seen: &Seen,
    ) -> rustix::io::Result<()> {
        let handle = self.before_name_goes(directory, name, seen);
        unlinkat(directory.descriptor(), name.as_bytes(), how)?;
        self.on_name_gone(seen, handle);
        Ok(())
    }

    /// Takes away what was made under a name, as the superuser, if that is there still.
    pub(super) fn remove_made(
        &self,
        directory: &Node,
        name: Name<'_>,
        made: Identification,
    ) -> rustix::io::Result<()> {
        let is_root = self.nodes.identity().assume_root().is_ok();
        let look = || self.nodes.attributes().look(directory.descriptor(), name.as_bytes()).ok();
        // Somebody else's has the name by now, or the directory says nothing: it stays.
        let Some(seen) = is_root.then(look).flatten().filter(|seen| seen.identification == made) else {
            return Ok(());
        };
        let how = match seen.attributes.kind {
            FileKind::Directory => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        self.unlink(directory, name, how, &seen)
    }

    /// A node is about to lose a name. Its handle, if the index needs it when the name is gone.
    pub(super) fn before_name_goes(&self, directory: &Node, name: Name<'_>, seen: &Seen) -> Option<Handle> {
        if !self.nodes.handles().keeps_places() {
            return None;
        }
        // File numbers are only unique within one file system.
        let is_on_root = |handle: &Handle| matches!(Form::parse(handle), Ok((None, _)));
        let is_here = seen.identification.device == self.nodes.tree().device;
        let open = self.nodes.cache().handle_of(seen.identification.file);
        let open = open.filter(|handle| is_here && is_on_root(handle));
        open.or_else(|| self.child(directory, name).ok().map(|(node, _)| node.handle))
    }

    /// A name of this node was taken away; if it was the last, the node is let go.
    pub(super) fn on_name_gone(&self, seen: &Seen, handle: Option<Handle>) {
        let is_directory = seen.attributes.kind == FileKind::Directory;
        if seen.attributes.links <= 1 || is_directory {
            // A LINK may have given a file a name after it was looked at: then its handle is still good.
            let is_nameless =
                |handle: &Handle| self.nodes.cache().get(handle).is_some_and(|node| node.is_gone());
            let handle = handle.filter(|handle| is_directory || is_nameless(handle));
            self.nodes.cache().forget_file(seen.identification.file);
            self.nodes.handles().on_gone(&seen.identification, handle);
        }
    }
}

/// READLINK.
pub(super) fn read_target(nodes: &OpenNodes, handle: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
    let node = nodes.node(handle)?;
    let attributes = nodes.stat(&node)?;
    if attributes.kind != FileKind::SymbolicLink {
        return Err(FsError::Invalid);
    }
    syscall::read_link_behind(node.descriptor(), LONGEST_TARGET, target).map_err(refusal)?;
    Ok(attributes)
}

fn open_above(directory: BorrowedFd<'_>) -> Result<OwnedFd> {
    openat(directory, "..", LOOK | OFlags::DIRECTORY, Mode::empty()).map_err(|errno| match errno {
        // Removed, or moved out of the mount.
        Errno::NOENT => FsError::Stale,
        errno => refusal(errno),
    })
}

/// A name with a NUL behind it, as the kernel wants it.
struct Terminated {
    bytes: [u8; Name::MAX + 1],
    length: usize,
}

impl Terminated {
    fn new(name: Name<'_>) -> Self {
        let name = name.as_bytes();
        let mut bytes = [0; Name::MAX + 1];
        bytes[..name.len()].copy_from_slice(name);
        Self { bytes, length: name.len() }
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[..=self.length]).expect("a name holds no NUL")
    }
}
