//! The table of the optional groups: each call and the operation that does it.

use std::ops::ControlFlow;

use howdah_vfs::{
    Acl, AclKind, Caller, Change, CopyRange, ExtendedAttributes, FileExtent, Handle, PosixAcls,
    RangeOperations, Result, SeekOutcome, SeekTarget, SetAcl, SetXattr, Written, XattrName,
};

use super::LocalFileSystem;

impl RangeOperations for LocalFileSystem {
    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        self.seek_range(caller, node, offset, target)
    }

    fn allocate(
        &self,
        caller: &Caller,
        FileExtent { node, offset, length }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.allocate_range(caller, node, offset, length, change)
    }

    fn deallocate(
        &self,
        caller: &Caller,
        FileExtent { node, offset, length }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.deallocate_range(caller, node, offset, length, change)
    }

    fn copy_range(
        &self,
        caller: &Caller,
        CopyRange { from, to, count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        self.copy_file_range(caller, from, to, count, change)
    }

    fn clone_range(
        &self,
        caller: &Caller,
        CopyRange { from, to, count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.clone_file_range(caller, from, to, count, change)
    }
}

impl ExtendedAttributes for LocalFileSystem {
    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        self.get_node_xattr(caller, node, name, value)
    }

    fn set_xattr(
        &self,
        caller: &Caller,
        SetXattr { node, name, value, mode }: SetXattr<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.set_node_xattr(caller, node, name, value, mode, change)
    }

    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        self.list_node_xattrs(caller, node, cookie, sink)
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.remove_node_xattr(caller, node, name, change)
    }
}

impl PosixAcls for LocalFileSystem {
    fn get_acl(&self, caller: &Caller, node: &Handle, kind: AclKind) -> Result<Option<Acl>> {
        self.get_node_acl(caller, node, kind)
    }

    fn set_acl(
        &self,
        caller: &Caller,
        SetAcl { node, kind, acl }: SetAcl<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.set_node_acl(caller, node, kind, acl, change)
    }
}
