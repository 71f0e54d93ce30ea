//! GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR: the kernel judges, for the caller. Of its namespaces only that of users is
//! shown.

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

use howdah_vfs::{AclKind, Caller, Change, FileKind, Handle, Result, SetXattrMode, XattrName};
use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::errno::refusal;
use super::node::Node;
use super::syscall;
use super::tree::Tree;

/// The namespace of users.
const NAMESPACE: &[u8] = b"user.";

/// Values and lists of names up to this size, in bytes, take one system call.
const USUAL: usize = 1 << 10;

/// The largest value and the largest list of names (`XATTR_SIZE_MAX` and `XATTR_LIST_MAX` of Linux).
const LARGEST: usize = 64 << 10;

/// Appends the value of an attribute, whose name has its namespace. The kernel's calls want a path for what is open only to be looked
/// at.
pub(super) fn get(
    tree: &Tree,
    node: BorrowedFd<'_>,
    name: &[u8],
    value: &mut Vec<u8>,
) -> rustix::io::Result<()> {
    let path = tree.descriptor_path(node);
    with_room(value, |value| getxattr(&path, name, spare_capacity(value)))
}

/// Appends what a call appends, which is tried with usual room first.
fn with_room(
    buffer: &mut Vec<u8>,
    call: impl Fn(&mut Vec<u8>) -> rustix::io::Result<usize>,
) -> rustix::io::Result<()> {
    buffer.reserve(USUAL);
    match call(buffer) {
        Err(Errno::RANGE) => {
            buffer.reserve(LARGEST);
            call(buffer)
        }
        outcome => outcome,
    }
    .map(drop)
}

fn full(name: &[u8]) -> Vec<u8> {
    [NAMESPACE, name].concat()
}

impl LocalFileSystem {
    /// Whether a directory has a default ACL. Where the kernel does not say, a umask holds: it gives less.
    pub(super) fn has_default_acl_of(&self, directory: &Handle) -> bool {
        let Ok(node) = self.node(directory) else { return false };
        // Room for an ACL without entries.
        let (path, name) = (self.tree.descriptor_path(node.descriptor()), AclKind::Default.xattr_name());
        match getxattr(path, name, &mut [0_u8; 4][..]) {
            Err(errno) => errno == Errno::RANGE,
            Ok(_) => false,
        }
    }

    pub(super) fn get_node_xattr(
        &self,
        caller: &Caller,
        handle: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        let node = self.node(handle)?;
        self.stat(&node)?;
        self.identity.assume(caller)?;
        get(&self.tree, node.descriptor(), &full(name.as_bytes()), value).map_err(refusal)
    }

    pub(super) fn set_node_xattr(
        &self,
        caller: &Caller,
        handle: &Handle,
        name: XattrName<'_>,
        value: &[u8],
        mode: SetXattrMode,
        change: &mut Change,
    ) -> Result<()> {
        let flags = match mode {
            SetXattrMode::Either => XattrFlags::empty(),
            SetXattrMode::Create => XattrFlags::CREATE,
            SetXattrMode::Replace => XattrFlags::REPLACE,
        };
        self.change_xattr(caller, handle, change, |path| setxattr(path, full(name.as_bytes()), value, flags))
    }

    pub(super) fn remove_node_xattr(
        &self,
        caller: &Caller,
        handle: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change_xattr(caller, handle, change, |path| removexattr(path, full(name.as_bytes())))
    }

    /// Changes an attribute as the caller.
    pub(super) fn change_xattr(
        &self,
        caller: &Caller,
        handle: &Handle,
        change: &mut Change,
        call: impl FnOnce(&str) -> rustix::io::Result<()>,
    ) -> Result<()> {
        let node = self.node(handle)?;
        let attributes = self.changing(&node, change, |attributes| {
            self.identity.assume(caller)?;
            call(&self.tree.descriptor_path(node.descriptor())).map_err(refusal)?;
            Ok(*attributes)
        })?;
        self.make_durable(&node, &attributes)
    }

    pub(super) fn list_node_xattrs(
        &self,
        caller: &Caller,
        handle: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        let node = self.node(handle)?;
        let attributes = self.stat(&node)?;
        self.identity.assume(caller)?;
        // The kernel shows names to all.
        syscall::access(node.descriptor(), libc::R_OK).map_err(refusal)?;
        let mut list = Vec::new();
        if matches!(attributes.kind, FileKind::Regular | FileKind::Directory) {
            self.append_names(&node, &mut list).map_err(refusal)?;
        }
        let names = list.split(|&byte| byte == 0).filter_map(|name| name.strip_prefix(NAMESPACE));
        Ok(XattrName::list(names.filter_map(|name| XattrName::parse(name).ok()), cookie, sink))
    }

    /// Appends the names of all namespaces, each with a zero byte behind it.
    fn append_names(&self, node: &Node, list: &mut Vec<u8>) -> rustix::io::Result<()> {
        let path = self.tree.descriptor_path(node.descriptor());
        with_room(list, |list| listxattr(&path, spare_capacity(list)))
    }
}
