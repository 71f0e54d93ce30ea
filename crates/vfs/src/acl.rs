//! POSIX access control lists (POSIX.1e draft 17, acl(5)): what they hold, and the file systems that have them.

mod encoding;
mod entry;
mod list;

pub use entry::{AclEntry, AclSubject};
pub use list::Acl;

use crate::{Caller, Change, Handle, Result};

/// The ACLs of a file system's nodes, asked for by [`FileSystem::acls`](crate::FileSystem::acls). Every node but a symbolic link has
/// an access ACL, of which the permission bits show the owner's, the mask's and the others' rights. Only directories have a default
/// ACL. Reading asks no permission; only the owner and the superuser set one.
pub trait PosixAcls: Send + Sync {
    /// The ACL of a node. `None`: the permission bits say it all, or the directory hands none down.
    fn get_acl(&self, caller: &Caller, node: &Handle, kind: AclKind) -> Result<Option<Acl>>;

    /// Sets or removes an ACL. An access ACL sets the permission bits too.
    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()>;
}

/// Which ACL of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AclKind {
    /// Decides who may do what with the node.
    Access,
    /// A directory hands it down to what is made in it.
    Default,
}

impl AclKind {
    /// The name of the extended attribute that holds it on Linux.
    pub const fn xattr_name(self) -> &'static str {
        match self {
            Self::Access => "system.posix_acl_access",
            Self::Default => "system.posix_acl_default",
        }
    }
}

/// An ACL to set.
#[derive(Debug, Clone, Copy)]
pub struct SetAcl<'a> {
    /// Of which node.
    pub node: &'a Handle,
    /// Which of its ACLs.
    pub kind: AclKind,
    /// What it becomes; `None` removes it.
    pub acl: Option<&'a Acl>,
}

impl<'a> SetAcl<'a> {
    /// The request with its fields in this order.
    pub fn new(node: &'a Handle, kind: AclKind, acl: Option<&'a Acl>) -> Self {
        Self { node, kind, acl }
    }
}
