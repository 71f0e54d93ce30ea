//! Extended attributes: those in the `user.` namespace, and POSIX ACLs.

use std::ops::ControlFlow;

use fuser::Errno;
use howdah_vfs::{Change, ExtendedAttributes, SetXattr, SetXattrMode, XattrName};

use super::acls::acl_kind;
use super::fitting::Fitting;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;
use crate::who::Requester;

/// What Linux puts before the names of users' attributes.
const NAMESPACE: &[u8] = b"user.";

impl Shared {
    /// GETXATTR.
    pub fn get_xattr(&self, asker: Requester, number: u64, name: &[u8], room: u32) -> Answer<Fitting> {
        if let Some(kind) = acl_kind(name).filter(|_| self.shows_acls) {
            return self.get_acl(asker, number, kind, room);
        }
        let (xattrs, name) = (self.xattrs()?, of_user(name)?);
        let (node, mut value) = (self.nodes.of(number)?, Vec::new());
        xattrs.get_xattr(&self.caller(asker), &node.handle, name, &mut value)?;
        Fitting::new(value, room)
    }

    /// SETXATTR.
    pub fn set_xattr(
        &self,
        asker: Requester,
        number: u64,
        name: &[u8],
        value: &[u8],
        flags: i32,
    ) -> Answer<()> {
        if let Some(kind) = acl_kind(name).filter(|_| self.shows_acls) {
            return self.set_acl(asker, number, kind, Some(value));
        }
        let (xattrs, name) = (self.xattrs()?, of_user(name)?);
        let mode = match flags {
            0 => SetXattrMode::Either,
            libc::XATTR_CREATE => SetXattrMode::Create,
            libc::XATTR_REPLACE => SetXattrMode::Replace,
            _ => return Err(Refused(Errno::EINVAL)),
        };
        let (node, caller) = (self.nodes.of(number)?, self.caller(asker));
        self.settle_first(&node);
        Ok(xattrs.set_xattr(
            &caller,
            SetXattr::new(&node.handle, name, value, mode),
            &mut Change::default(),
        )?)
    }

    /// LISTXATTR: each name with its namespace and a NUL.
    pub fn list_xattrs(&self, asker: Requester, number: u64, room: u32) -> Answer<Fitting> {
        let (mut names, mut last) = (Vec::new(), 0);
        self.append_acl_names(asker, number, &mut names)?;
        if self.shows_acls && self.file_system.xattrs().is_none() {
            return Fitting::new(names, room);
        }
        let (xattrs, node, caller) = (self.xattrs()?, self.nodes.of(number)?, self.caller(asker));
        while !xattrs.list_xattrs(&caller, &node.handle, last, &mut |name, cookie| {
            [NAMESPACE, name.as_bytes(), b"\0"].iter().for_each(|part| names.extend_from_slice(part));
            last = cookie;
            ControlFlow::Continue(())
        })? {}
        Fitting::new(names, room)
    }

    /// REMOVEXATTR.
    pub fn remove_xattr(&self, asker: Requester, number: u64, name: &[u8]) -> Answer<()> {
        if let Some(kind) = acl_kind(name).filter(|_| self.shows_acls) {
            return self.set_acl(asker, number, kind, None);
        }
        let (xattrs, name) = (self.xattrs()?, of_user(name)?);
        let (node, caller) = (self.nodes.of(number)?, self.caller(asker));
        self.settle_first(&node);
        Ok(xattrs.remove_xattr(&caller, &node.handle, name, &mut Change::default())?)
    }

    /// The extended attributes, if there are any. The kernel does not ask again where there are none for good, nor ACLs.
    fn xattrs(&self) -> Answer<&dyn ExtendedAttributes> {
        let may_ask_again = self.shows_acls || self.file_system.may_get_xattrs();
        let none = if may_ask_again { Errno::EOPNOTSUPP } else { Errno::ENOSYS };
        self.file_system.xattrs().ok_or(Refused(none))
    }
}

/// The name without its namespace. Other namespaces hold what a kernel keeps for itself.
fn of_user(name: &[u8]) -> Answer<XattrName<'_>> {
    let name = name.strip_prefix(NAMESPACE).ok_or(Refused(Errno::EOPNOTSUPP))?;
    Ok(XattrName::parse(name)?)
}
