//! GETACL and SETACL: the file system keeps ACLs, and the kernel judges who may set them.

use howdah_vfs::{Acl, AclKind, Caller, Change, FsError, Handle, Result};
use rustix::fs::{XattrFlags, removexattr, setxattr};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::errno::refusal;
use super::xattrs;

impl LocalFileSystem {
    pub(super) fn get_node_acl(
        &self,
        caller: &Caller,
        handle: &Handle,
        kind: AclKind,
    ) -> Result<Option<Acl>> {
        let node = self.node(handle)?;
        self.identity.assume(caller)?;
        let mut value = Vec::new();
        match xattrs::get(&self.tree, node.descriptor(), kind.xattr_name().as_bytes(), &mut value) {
            // What the kernel shows is a list, or it is no kernel that we know.
            Ok(()) => Acl::from_xattr(&value).map_err(|_| FsError::ServerFault),
            Err(Errno::NODATA) => Ok(None),
            Err(errno) => Err(refusal(errno)),
        }
    }

    pub(super) fn set_node_acl(
        &self,
        caller: &Caller,
        handle: &Handle,
        kind: AclKind,
        acl: Option<&Acl>,
        change: &mut Change,
    ) -> Result<()> {
        let name = kind.xattr_name();
        self.change_xattr(caller, handle, change, |path| match acl {
            Some(acl) => setxattr(path, name, &acl.to_xattr(), XattrFlags::empty()),
            None => match removexattr(path, name) {
                Err(Errno::NODATA) => Ok(()),
                outcome => outcome,
            },
        })
    }
}
