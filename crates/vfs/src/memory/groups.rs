//! The optional groups of methods of the file system: takes the lock and hands each call to the operation of that name.

use std::ops::ControlFlow;

use super::MemoryFileSystem;
use super::{ranges, xattrs};
use crate::{
    Caller, Change, CopyRange, ExtendedAttributes, FileExtent, Handle, RangeOperations, Result, SeekOutcome,
    SeekTarget, SetXattr, Written, XattrName,
};

impl RangeOperations for MemoryFileSystem {
    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        let tables = self.tables.lock();
        ranges::seek(&tables, caller, tables.find(node)?, offset, target)
    }

    fn allocate(
        &self,
        caller: &Caller,
        FileExtent { node, offset, length }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables.changing(node, change, |tables, node| ranges::allocate(tables, caller, node, offset, length))
    }

    fn deallocate(
        &self,
        caller: &Caller,
        FileExtent { node, offset, length }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables.changing(node, change, |tables, node| ranges::deallocate(tables, caller, node, offset, length))
    }

    fn copy_range(
        &self,
        caller: &Caller,
        CopyRange { from: (source, from), to: (target, to), count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let mut tables = self.tables.lock();
        let source = tables.find(source)?;
        tables.changing(target, change, |tables, target| {
            ranges::copy_range(tables, caller, (source, from), (target, to), count)
        })
    }

    fn clone_range(
        &self,
        caller: &Caller,
        CopyRange { from: (source, from), to: (target, to), count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        let source = tables.find(source)?;
        tables.changing(target, change, |tables, target| {
            ranges::clone_range(tables, caller, (source, from), (target, to), count)
        })
    }
}

impl ExtendedAttributes for MemoryFileSystem {
    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        let tables = self.tables.lock();
        xattrs::get_xattr(&tables, caller, tables.find(node)?, name, value)
    }

    fn set_xattr(
        &self,
        caller: &Caller,
        SetXattr { node, name, value, mode }: SetXattr<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables
            .changing(node, change, |tables, node| xattrs::set_xattr(tables, caller, node, name, value, mode))
    }

    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        let names = {
            let tables = self.tables.lock();
            xattrs::xattr_names(&tables, caller, tables.find(node)?)?
        };
        Ok(XattrName::list(names.iter().filter_map(|name| XattrName::parse(name).ok()), cookie, sink))
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables.changing(node, change, |tables, node| xattrs::remove_xattr(tables, caller, node, name))
    }
}
