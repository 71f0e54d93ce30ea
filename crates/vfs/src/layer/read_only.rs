//! A file system that changes nothing.

use std::sync::Arc;

use super::{Call, Layer};
use crate::{
    Access, AddLink, Attributes, Before, Caller, Change, CopyRange, CreateFile, FileExtent, FileSystem,
    FsError, Handle, MakeDirectory, MakeLink, MakeSpecial, Name, Node, Result, SetAcl, SetAttributes,
    SetXattr, WriteFile, Written, XattrName,
};

/// Refuses every change with [`FsError::ReadOnly`], and grants no right to make one. COMMIT passes: there is nothing
/// to commit, and no harm in it.
pub struct ReadOnly {
    inner: Arc<dyn FileSystem>,
}

impl ReadOnly {
    /// The same files, unchangeable.
    pub fn around(inner: Arc<dyn FileSystem>) -> Self {
        Self { inner }
    }

    /// Refuses, and reports the node as it is and stays. A handle that names nothing is refused for that.
    fn refuse<T>(&self, caller: &Caller, node: &Handle, change: &mut Change) -> Result<T> {
        let attributes = self.inner.attributes(caller, node)?;
        *change = Change { before: Some(Before::from(&attributes)), after: Some(attributes) };
        Err(FsError::ReadOnly)
    }
}

impl Layer for ReadOnly {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let (granted, attributes) = self.inner.access(caller, node, wanted)?;
        Ok((granted.without(Access::MODIFY | Access::EXTEND | Access::DELETE), attributes))
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, .. }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, node, change)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, .. }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        self.refuse(caller, node, change)
    }

    fn create(
        &self,
        caller: &Caller,
        CreateFile { directory, .. }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.refuse(caller, directory, change)
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, .. }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.refuse(caller, directory, change)
    }

    fn make_link(
        &self,
        caller: &Caller,
        MakeLink { directory, .. }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.refuse(caller, directory, change)
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, .. }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.refuse(caller, directory, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, _: Name<'_>, change: &mut Change) -> Result<()> {
        self.refuse(caller, directory, change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        _: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, directory, change)
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        // Both directories are reported; either way the answer is the same.
        self.refuse::<()>(caller, from.0, changes.0).or_else(|refusal| match refusal {
            FsError::ReadOnly => self.refuse(caller, to.0, changes.1),
            other => Err(other),
        })
    }

    fn link(
        &self,
        caller: &Caller,
        AddLink { directory, .. }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        self.refuse(caller, directory, change)
    }
    fn allocate(
        &self,
        caller: &Caller,
        FileExtent { node, .. }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, node, change)
    }

    fn deallocate(
        &self,
        caller: &Caller,
        FileExtent { node, .. }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, node, change)
    }

    fn copy_range(
        &self,
        caller: &Caller,
        CopyRange { to, .. }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        self.refuse(caller, to.0, change)
    }

    fn clone_range(
        &self,
        caller: &Caller,
        CopyRange { to, .. }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, to.0, change)
    }

    fn set_acl(&self, caller: &Caller, SetAcl { node, .. }: SetAcl<'_>, change: &mut Change) -> Result<()> {
        self.refuse(caller, node, change)
    }

    fn set_xattr(
        &self,
        caller: &Caller,
        SetXattr { node, .. }: SetXattr<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, node, change)
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        _: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.refuse(caller, node, change)
    }
}
