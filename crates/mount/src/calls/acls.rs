//! POSIX ACLs, which programs read and set as extended attributes, and which take the place of a umask.

use fuser::Errno;
use howdah_vfs::{Acl, AclKind, Change, PosixAcls, SetAcl};

use super::fitting::Fitting;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;
use crate::who::Requester;

/// The ACL that an extended attribute of this name holds.
pub fn acl_kind(name: &[u8]) -> Option<AclKind> {
    [AclKind::Access, AclKind::Default].into_iter().find(|kind| kind.xattr_name().as_bytes() == name)
}

impl Shared {
    /// The ACLs, if the mount shows such and the server has some.
    pub fn acls(&self) -> Option<&dyn PosixAcls> {
        if self.shows_acls { self.file_system.acls() } else { None }
    }

    fn require_acls(&self) -> Answer<&dyn PosixAcls> {
        self.acls().ok_or(Refused(Errno::EOPNOTSUPP))
    }

    /// GETXATTR of an ACL.
    pub fn get_acl(&self, asker: Requester, number: u64, kind: AclKind, room: u32) -> Answer<Fitting> {
        let (acls, node) = (self.require_acls()?, self.nodes.of(number)?);
        match acls.get_acl(&self.caller(asker), &node.handle, kind)? {
            Some(acl) => Fitting::new(acl.to_xattr(), room),
            None => Err(Refused(Errno::ENODATA)),
        }
    }

    /// SETXATTR and REMOVEXATTR of an ACL. A value without entries removes it.
    pub fn set_acl(&self, asker: Requester, number: u64, kind: AclKind, value: Option<&[u8]>) -> Answer<()> {
        let acl = value.map(Acl::from_xattr).transpose()?.flatten();
        let (acls, node, caller) = (self.require_acls()?, self.nodes.of(number)?, self.caller(asker));
        self.settle_first(&node);
        Ok(acls.set_acl(&caller, SetAcl::new(&node.handle, kind, acl.as_ref()), &mut Change::default())?)
    }

    /// Appends the names of the ACLs that a node has, as LISTXATTR shows them.
    pub fn append_acl_names(&self, asker: Requester, number: u64, names: &mut Vec<u8>) -> Answer<()> {
        let Some(acls) = self.acls() else { return Ok(()) };
        let (node, caller) = (self.nodes.of(number)?, self.caller(asker));
        for kind in [AclKind::Access, AclKind::Default] {
            if acls.get_acl(&caller, &node.handle, kind).is_ok_and(|acl| acl.is_some()) {
                names.extend_from_slice(kind.xattr_name().as_bytes());
                names.push(0);
            }
        }
        Ok(())
    }

    /// The mode of what is made in a directory: without the bits of the umask, unless the directory has a default ACL.
    pub fn mode_of_new(&self, asker: Requester, parent: u64, mode: u32, umask: u32) -> u32 {
        let is_masked = mode & umask & 0o777 != 0;
        match self.acls().filter(|_| is_masked).zip(self.nodes.of(parent).ok()) {
            Some((acls, directory))
                if acls
                    .get_acl(&self.caller(asker), &directory.handle, AclKind::Default)
                    .is_ok_and(|acl| acl.is_some()) =>
            {
                mode
            }
            _ => mode & !umask,
        }
    }
}
