//! Descriptors for a node's data, and who may use them. Shared by the operations on data; knows no protocol call.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use howdah_vfs::{Attributes, Caller, FileKind, FsError, Handle, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::errno::refusal;
use super::known::is_past;
use super::node::{Node, Right};
use super::open_nodes::OpenNodes;
use super::syscall;

/// Opens nodes for their data.
pub(super) struct DataFiles {
    nodes: Arc<OpenNodes>,
    /// As [`Options::overrides_own_modes`](super::Options::overrides_own_modes).
    overrides_own_modes: bool,
}

impl DataFiles {
    pub(super) fn new(nodes: Arc<OpenNodes>, overrides_own_modes: bool) -> Self {
        Self { nodes, overrides_own_modes }
    }

    /// A regular file that the caller may read. Its owner may, and who may execute it may, since a client reads what it
    /// executes (RFC 1813 4.4).
    pub(super) fn to_read(&self, caller: &Caller, file: &Handle) -> Result<(Arc<Node>, Attributes)> {
        let node = self.nodes.node(file)?;
        let attributes = self.nodes.stat(&node)?;
        require_regular(&attributes)?;
        self.permit(caller, &node, &attributes, Right::Read, true)?;
        Ok((node, attributes))
    }

    /// Refuses what is no regular file, and a caller who may not write it. Its owner may.
    pub(super) fn permit_writing(&self, caller: &Caller, node: &Node, attributes: &Attributes) -> Result<()> {
        require_regular(attributes)?;
        self.permit(caller, node, attributes, Right::Write, true)
    }

    /// Asks the kernel unless it is known: the superuser may, the owner may if `owner_may`, and what the kernel said
    /// last holds as long as the node's `changed` time is the same.
    pub(super) fn permit(
        &self,
        caller: &Caller,
        node: &Node,
        attributes: &Attributes,
        right: Right,
        owner_may: bool,
    ) -> Result<()> {
        let is_owner = owner_may && caller.user == attributes.user;
        if !self.nodes.identity().acts_as_caller() || caller.user == 0 || is_owner {
            return Ok(());
        }
        if node.is_granted(caller, right, attributes.changed) {
            return Ok(());
        }
        self.nodes.identity().assume(caller)?;
        match right {
            Right::Read => syscall::access(node.descriptor(), libc::R_OK).or_else(|errno| {
                let executes = attributes.kind == FileKind::Regular && errno == Errno::ACCESS;
                if executes { syscall::access(node.descriptor(), libc::X_OK) } else { Err(errno) }
            }),
            Right::Write => syscall::access(node.descriptor(), libc::W_OK),
        }
        .map_err(refusal)?;
        // A change in the same tick of the clock as the last one would not show.
        if is_past(attributes.changed) {
            node.on_granted(caller, right, attributes.changed);
        }
        Ok(())
    }

    /// A descriptor to list a directory.
    pub(super) fn listable<'a>(&self, directory: &'a Node) -> Result<&'a Arc<OwnedFd>> {
        if let Some(file) = directory.reading() {
            return Ok(file);
        }
        self.nodes.identity().assume_root()?;
        let file = self.nodes.tree().open_listing(directory.descriptor()).map_err(refusal)?;
        self.nodes.cache().make_room();
        Ok(directory.keep_reading(file))
    }

    /// A descriptor to read a regular file or list a directory.
    pub(super) fn readable<'a>(&self, node: &'a Node, attributes: &Attributes) -> Result<&'a Arc<OwnedFd>> {
        if let Some(file) = node.reading() {
            return Ok(file);
        }
        let flags = match attributes.kind {
            FileKind::Regular => OFlags::RDONLY,
            FileKind::Directory => return self.listable(node),
            _ => return Err(FsError::Invalid),
        };
        let file = self.reopen(node, attributes, flags)?;
        self.nodes.cache().make_room();
        Ok(node.keep_reading(file))
    }

    /// A descriptor to read and write a regular file, as the caller, so that set-id bits go and reserved blocks stay.
    pub(super) fn writable<'a>(
        &self,
        caller: &Caller,
        node: &'a Node,
        attributes: &Attributes,
    ) -> Result<&'a Arc<OwnedFd>> {
        let file = match node.writing() {
            Some(file) => file,
            None => {
                let file = self.reopen(node, attributes, OFlags::RDWR)?;
                self.nodes.cache().make_room();
                node.keep_writing(file)
            }
        };
        self.nodes.identity().assume(caller)?;
        Ok(file)
    }

    /// Opens as the superuser: whether the caller may is judged before, call by call.
    fn reopen(&self, node: &Node, attributes: &Attributes, flags: OFlags) -> Result<OwnedFd> {
        self.nodes.identity().assume_root()?;
        // A lease of a local process would keep the open waiting for 45 s: the client is asked to try again instead.
        let flags = flags | OFlags::NONBLOCK;
        match self.nodes.tree().reopen(node.descriptor(), flags) {
            Err(Errno::ACCESS) if self.overrides_own_modes && attributes.kind == FileKind::Regular => {
                self.reopen_own(node, attributes, flags)
            }
            outcome => outcome.map_err(refusal),
        }
    }

    /// Without privilege the kernel refuses an owner whose mode does not allow it, but NFS lets the owner read and write all the same.
    /// The only way is to change the mode for the moment of opening.
    fn reopen_own(&self, node: &Node, attributes: &Attributes, flags: OFlags) -> Result<OwnedFd> {
        if attributes.user != rustix::process::geteuid().as_raw() {
            return Err(FsError::AccessDenied);
        }
        let _held = node.hold_mode();
        // It may have another mode than when the call began: that call may have set it.
        let mode = self.nodes.stat(node)?.mode;
        self.nodes.tree().change_mode(node.descriptor(), mode | 0o600).map_err(refusal)?;
        let file = self.nodes.tree().reopen(node.descriptor(), flags);
        self.nodes.tree().change_mode(node.descriptor(), mode).map_err(refusal)?;
        file.map_err(refusal)
    }
}

/// The refusal for data calls on what is no regular file.
fn require_regular(attributes: &Attributes) -> Result<()> {
    match attributes.kind {
        FileKind::Regular => Ok(()),
        FileKind::Directory => Err(FsError::IsDirectory),
        _ => Err(FsError::Invalid),
    }
}
