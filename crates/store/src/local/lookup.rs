//! LOOKUP of a name and of the parent, READLINK, and the ways from a name or a handle to an open node.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{Attributes, Caller, FileKind, Found, FsError, Handle, Name, Node as Named, Result};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::attributes::Seen;
use super::errno::refusal;
use super::handles::file_number;
use super::identify::identify;
use super::known::now;
use super::node::Node;
use super::syscall;
use super::tree::LOOK;

/// The longest target of a symbolic link, in bytes (Linux' PATH_MAX).
const LONGEST_TARGET: usize = 4096;

impl LocalFileSystem {
    /// LOOKUP: `fstat` of the directory and `statx` of the name; `name_to_handle_at` if the handle is not known; and if
    /// that could be another node's, the node is opened.
    pub(super) fn look_up(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let directory = self.node(directory)?;
        // Before the name is looked up: a client that caches the answer then sees a later change of the directory.
        let attributes = self.stat_directory(&directory)?;
        self.identity.assume(caller)?;
        let now = now();
        let terminated = Terminated::new(name);
        let seen = self.look_at(directory.descriptor(), terminated.as_c_str()).map_err(refusal)?;
        self.refuse_mounts(&seen)?;
        let node = match self.handle_of_name(&directory, terminated.as_c_str(), name, &seen, now) {
            Some(handle) => Named { handle, attributes: seen.attributes },
            None => self.open_child(&directory, name)?.1,
        };
        Ok(Found { node, directory: Some(attributes) })
    }

    /// LOOKUP of `..`.
    pub(super) fn look_up_parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        let directory = self.node(directory)?;
        let attributes = self.stat_directory(&directory)?;
        self.identity.assume(caller)?;
        syscall::access(directory.descriptor(), libc::X_OK).map_err(refusal)?;
        let node = self.parent_of(&directory)?;
        Ok(Found { node, directory: Some(attributes) })
    }

    /// The directory above, which is the root itself for the root, and refused for a directory that others moved
    /// out of the export.
    pub(super) fn parent_of(&self, directory: &Node) -> Result<Named> {
        self.identity.assume_root()?;
        if directory.handle == self.root.handle {
            return Ok(Named { handle: self.root.handle, attributes: self.stat(&self.root)? });
        }
        let parent = self.open_above(directory.descriptor())?;
        // In a mount of its own the kernel itself lets no `..` lead out.
        if !self.tree.is_own_mount {
            self.require_below_root(&parent)?;
        }
        let seen = self.look(parent.as_fd(), b"").map_err(refusal)?;
        let handle = self.maker.of_open(parent.as_fd(), &seen.identification)?;
        if handle != self.root.handle {
            self.nodes.insert(handle, parent).found(&seen.identification);
        }
        Ok(Named { handle, attributes: seen.attributes })
    }

    fn open_above(&self, directory: BorrowedFd<'_>) -> Result<OwnedFd> {
        openat(directory, "..", LOOK | OFlags::DIRECTORY, Mode::empty()).map_err(|errno| match errno {
            // Removed, or moved out of the mount.
            Errno::NOENT => FsError::Stale,
            errno => refusal(errno),
        })
    }

    fn require_below_root(&self, directory: &OwnedFd) -> Result<()> {
        match self.tree.is_inside(directory.as_fd(), self.maker.mounts.as_deref()) {
            Ok(true) => Ok(()),
            Ok(false) | Err(Errno::NOENT) => Err(FsError::Stale),
            Err(errno) => Err(refusal(errno)),
        }
    }

    /// READLINK.
    pub(super) fn read_target(&self, handle: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        let node = self.node(handle)?;
        let attributes = self.stat(&node)?;
        if attributes.kind != FileKind::SymbolicLink {
            return Err(FsError::Invalid);
        }
        syscall::read_link_behind(node.descriptor(), LONGEST_TARGET, target).map_err(refusal)?;
        Ok(attributes)
    }

    /// The open node of a handle.
    pub(super) fn node(&self, handle: &Handle) -> Result<Arc<Node>> {
        match self.nodes.get(handle) {
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
        let opened = self.open_by_handle(handle);
        if matches!(opened, Err(FsError::Stale)) {
            self.forget(handle);
        }
        let node = self.nodes.insert(*handle, opened?);
        if let Ok(identification) = identify(node.descriptor()) {
            node.found(&identification);
        }
        Ok(node)
    }

    /// Lets go of a node that is gone.
    pub(super) fn forget(&self, handle: &Handle) {
        self.nodes.forget(handle);
        self.known.forget(file_number(handle), self.tree.device);
    }

    /// Opens a name in a directory to look at it, as the caller that the thread acts as.
    pub(super) fn open_child(&self, directory: &Node, name: Name<'_>) -> Result<(Arc<Node>, Named)> {
        let now = now();
        let child =
            self.tree.open_name(directory.descriptor(), name.as_bytes(), LOOK).map_err(
                |errno| match errno {
                    // Another mount begins there, and this export does not cross mounts.
                    Errno::XDEV => FsError::AccessDenied,
                    errno => refusal(errno),
                },
            )?;
        let seen = self.look(child.as_fd(), b"").map_err(refusal)?;
        let handle = self.maker.of_open(child.as_fd(), &seen.identification)?;
        self.on_seen(directory, name, &seen, now, &handle);
        let node = self.nodes.insert(handle, child);
        node.found(&seen.identification);
        Ok((node, Named { handle, attributes: seen.attributes }))
    }

    /// A mount point that the export does not cross, where the directory underneath cannot be seen either.
    pub(super) fn refuse_mounts(&self, seen: &Seen) -> Result<()> {
        if self.hides(seen) { Err(FsError::AccessDenied) } else { Ok(()) }
    }

    /// Whether a node lies behind a mount that the export does not cross.
    pub(super) fn hides(&self, seen: &Seen) -> bool {
        seen.is_mount && !self.tree.is_own_mount && !self.tree.crosses_mounts
    }
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
