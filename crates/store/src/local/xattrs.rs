//! GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR, GETACL and SETACL: the kernel judges, for the caller. Of its namespaces only that of users is
//! shown.

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use howdah_vfs::{
    Acl, AclKind, Caller, Change, ExtendedAttributes, FileKind, FsError, Handle, PosixAcls, Result, SetAcl,
    SetXattr, SetXattrMode, XattrName,
};
use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use rustix::io::Errno;

use super::errno::refusal;
use super::node::Node;
use super::node_changes::NodeChanges;
use super::open_nodes::OpenNodes;
use super::stable_storage::StableStorage;
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
fn get(tree: &Tree, node: BorrowedFd<'_>, name: &[u8], value: &mut Vec<u8>) -> rustix::io::Result<()> {
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

/// The extended attributes and ACLs of nodes.
pub(super) struct NodeXattrs {
    nodes: Arc<OpenNodes>,
    changes: Arc<NodeChanges>,
    storage: Arc<StableStorage>,
    /// Whether there can be attributes of users.
    has_xattrs: bool,
    /// Whether there can be ACLs that hold for callers.
    has_acls: bool,
}

impl NodeXattrs {
    pub(super) fn new(
        nodes: Arc<OpenNodes>,
        (changes, storage): (Arc<NodeChanges>, Arc<StableStorage>),
        acls_hold: bool,
    ) -> Self {
        let has = |name: &[u8]| {
            let found = get(nodes.tree(), nodes.tree().root(), name, &mut Vec::new());
            !matches!(found, Err(Errno::OPNOTSUPP | Errno::NOSYS))
        };
        let has_xattrs = has(b"user.howdah");
        let has_acls = acls_hold && has(AclKind::Access.xattr_name().as_bytes());
        Self { nodes, changes, storage, has_xattrs, has_acls }
    }

    /// Attributes of users, if the file system keeps them.
    pub(super) fn of_users(&self) -> Option<&dyn ExtendedAttributes> {
        self.has_xattrs.then_some(self)
    }

    /// ACLs, if the file system keeps them.
    pub(super) fn acls(&self) -> Option<&dyn PosixAcls> {
        self.has_acls.then_some(self)
    }

    /// Whether a directory has a default ACL. Where the kernel does not say, a umask holds: it gives less.
    pub(super) fn has_default_acl(&self, directory: &Handle) -> bool {
        let Ok(node) = self.nodes.node(directory) else { return false };
        // Room for an ACL without entries.
        let (path, name) =
            (self.nodes.tree().descriptor_path(node.descriptor()), AclKind::Default.xattr_name());
        match getxattr(path, name, &mut [0_u8; 4][..]) {
            Err(errno) => errno == Errno::RANGE,
            Ok(_) => false,
        }
    }

    /// Changes an attribute as the caller.
    fn change(
        &self,
        caller: &Caller,
        handle: &Handle,
        change: &mut Change,
        call: impl FnOnce(&str) -> rustix::io::Result<()>,
    ) -> Result<()> {
        let node = self.nodes.node(handle)?;
        let attributes = self.changes.changing(&node, change, |attributes| {
            self.nodes.identity().assume(caller)?;
            call(&self.nodes.tree().descriptor_path(node.descriptor())).map_err(refusal)?;
            Ok(*attributes)
        })?;
        self.storage.settle_node(&node, &attributes)
    }

    /// Appends the names of all namespaces, each with a zero byte behind it.
    fn append_names(&self, node: &Node, list: &mut Vec<u8>) -> rustix::io::Result<()> {
        let path = self.nodes.tree().descriptor_path(node.descriptor());
        with_room(list, |list| listxattr(&path, spare_capacity(list)))
    }
}

impl ExtendedAttributes for NodeXattrs {
    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        let node = self.nodes.node(node)?;
        self.nodes.stat(&node)?;
        self.nodes.identity().assume(caller)?;
        get(self.nodes.tree(), node.descriptor(), &full(name.as_bytes()), value).map_err(refusal)
    }

    fn set_xattr(
        &self,
        caller: &Caller,
        SetXattr { node, name, value, mode }: SetXattr<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let flags = match mode {
            SetXattrMode::Either => XattrFlags::empty(),
            SetXattrMode::Create => XattrFlags::CREATE,
            SetXattrMode::Replace => XattrFlags::REPLACE,
        };
        self.change(caller, node, change, |path| setxattr(path, full(name.as_bytes()), value, flags))
    }

    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        let node = self.nodes.node(node)?;
        let attributes = self.nodes.stat(&node)?;
        self.nodes.identity().assume(caller)?;
        // The kernel shows names to all.
        syscall::access(node.descriptor(), libc::R_OK).map_err(refusal)?;
        let mut list = Vec::new();
        if matches!(attributes.kind, FileKind::Regular | FileKind::Directory) {
            self.append_names(&node, &mut list).map_err(refusal)?;
        }
        let names = list.split(|&byte| byte == 0).filter_map(|name| name.strip_prefix(NAMESPACE));
        Ok(XattrName::list(names.filter_map(|name| XattrName::parse(name).ok()), cookie, sink))
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change(caller, node, change, |path| removexattr(path, full(name.as_bytes())))
    }
}

/// The file system keeps ACLs, and the kernel judges who may set them.
impl PosixAcls for NodeXattrs {
    fn get_acl(&self, caller: &Caller, node: &Handle, kind: AclKind) -> Result<Option<Acl>> {
        let node = self.nodes.node(node)?;
        self.nodes.identity().assume(caller)?;
        let mut value = Vec::new();
        match get(self.nodes.tree(), node.descriptor(), kind.xattr_name().as_bytes(), &mut value) {
            // What the kernel shows is a list, or it is no kernel that we know.
            Ok(()) => Acl::from_xattr(&value).map_err(|_| FsError::ServerFault),
            Err(Errno::NODATA) => Ok(None),
            Err(errno) => Err(refusal(errno)),
        }
    }

    fn set_acl(
        &self,
        caller: &Caller,
        SetAcl { node, kind, acl }: SetAcl<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let name = kind.xattr_name();
        self.change(caller, node, change, |path| match acl {
            Some(acl) => setxattr(path, name, &acl.to_xattr(), XattrFlags::empty()),
            None => match removexattr(path, name) {
                Err(Errno::NODATA) => Ok(()),
                outcome => outcome,
            },
        })
    }
}
