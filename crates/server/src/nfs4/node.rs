//! The nodes that a compound works on: in an export, or in the pseudo file system above the exports.

use std::sync::Arc;

use howdah_vfs::{Attributes, Caller, ExtendedAttributes, FileSystem, Handle, RangeOperations};
use howdah_wire::nfs4::Status;

use super::convert;
use super::pseudo::PseudoDirectory;
use crate::SealedHandle;
use crate::exports::{Admission, Export, Exports};
use crate::states::{Changer, FileKey, Recalling};

/// A node.
#[derive(Clone)]
pub enum CurrentNode<'c> {
    /// A directory of the pseudo file system.
    Pseudo(PseudoDirectory),
    /// A node of an export.
    Exported(ExportedNode<'c>),
}

/// What the flavor of a call lets it do with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlavorAccess {
    /// Whatever its sender may.
    Full,
    /// To look at it on the way to an export below it that takes the flavor.
    OnTheWay,
    /// To ask which flavors it takes.
    None,
}

impl CurrentNode<'_> {
    /// What the flavor of the call lets it do with the node.
    pub fn flavor_access(&self) -> FlavorAccess {
        match self {
            Self::Pseudo(_) => FlavorAccess::Full,
            Self::Exported(object) => object.flavor_access(),
        }
    }
}

/// A node of an export, and the way to it.
#[derive(Clone)]
pub struct ExportedNode<'c> {
    /// The file system it lives in, as this client may see it.
    pub file_system: Recalling<'c>,
    /// Who the call acts as.
    pub caller: Caller,
    /// The node.
    pub handle: Handle,
    read_only: bool,
    flavor_access: FlavorAccess,
    export: &'c Export,
}

impl<'c> ExportedNode<'c> {
    /// A node of an export that let the client in.
    pub fn new(
        export: &'c Export,
        admission: Admission<'c>,
        changer: Option<Changer<'c>>,
        handle: Handle,
    ) -> Self {
        let Admission { file_system, caller, read_only, .. } = admission;
        let file_system = Recalling::around(file_system, changer);
        Self { file_system, caller, handle, read_only, flavor_access: FlavorAccess::Full, export }
    }

    /// The same for a call of another flavor.
    pub fn with_flavor_access(self, flavor_access: FlavorAccess) -> Self {
        Self { flavor_access, ..self }
    }

    /// What the flavor of the call lets it do with the node.
    pub fn flavor_access(&self) -> FlavorAccess {
        self.flavor_access
    }

    /// Whether this client may change nothing there.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Another node beside it.
    pub fn beside(&self, handle: Handle) -> Self {
        Self { handle, ..self.clone() }
    }

    /// The export.
    pub fn export(&self) -> &'c Export {
        self.export
    }

    /// Whether both are of one export.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.export.id() == other.export.id()
    }

    /// Whether it is the root of its export.
    pub fn is_root(&self) -> bool {
        self.handle == *self.export.root()
    }

    /// What names it to the table of opens and locks.
    pub fn key(&self) -> FileKey {
        FileKey { export: self.export.id(), node: self.handle }
    }

    /// What the client gets for its handle.
    pub fn seal(&self, exports: &Arc<Exports>) -> SealedHandle {
        exports.seal(self.export, &self.handle)
    }

    /// The calls of its file system on ranges of files.
    ///
    /// # Errors
    /// It has none.
    pub fn ranges(&self) -> Result<&dyn RangeOperations, Status> {
        self.file_system.ranges().ok_or(Status::NOTSUPP)
    }

    /// The extended attributes of its file system.
    ///
    /// # Errors
    /// It has none.
    pub fn xattrs(&self) -> Result<&dyn ExtendedAttributes, Status> {
        self.file_system.xattrs().ok_or(Status::NOTSUPP)
    }

    /// Its attributes now.
    ///
    /// # Errors
    /// What the file system says.
    pub fn attributes(&self) -> Result<Attributes, Status> {
        self.file_system.attributes(&self.caller, &self.handle).map_err(convert::status)
    }
}
