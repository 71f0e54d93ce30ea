//! The optional groups of methods in the short form that cases want.

use std::ops::ControlFlow;

use super::actor::Actor;
use crate::{
    Change, CopyRange, FileExtent, FsError, Node, Result, SeekOutcome, SeekTarget, SetXattr, SetXattrMode,
    Written, XattrName,
};

impl Actor<'_> {
    /// Where it is found, and whether that is the end.
    pub(super) fn seek(&self, node: &Node, offset: u64, target: SeekTarget) -> Result<(u64, bool)> {
        let SeekOutcome { offset, end } =
            self.fs.require_ranges()?.seek(&self.caller, &node.handle, offset, target)?;
        Ok((offset, end))
    }

    pub(super) fn allocate(&self, node: &Node, offset: u64, length: u64) -> Result<()> {
        self.fs.require_ranges()?.allocate(
            &self.caller,
            FileExtent::new(&node.handle, offset, length),
            &mut Change::default(),
        )
    }

    pub(super) fn deallocate(&self, node: &Node, offset: u64, length: u64) -> Result<()> {
        self.fs.require_ranges()?.deallocate(
            &self.caller,
            FileExtent::new(&node.handle, offset, length),
            &mut Change::default(),
        )
    }

    pub(super) fn copy_range(&self, from: (&Node, u64), to: (&Node, u64), count: u64) -> Result<Written> {
        let (from, to) = ((&from.0.handle, from.1), (&to.0.handle, to.1));
        self.fs.require_ranges()?.copy_range(
            &self.caller,
            CopyRange { from, to, count },
            &mut Change::default(),
        )
    }

    pub(super) fn clone_range(&self, from: (&Node, u64), to: (&Node, u64), count: u64) -> Result<()> {
        let (from, to) = ((&from.0.handle, from.1), (&to.0.handle, to.1));
        self.fs.require_ranges()?.clone_range(
            &self.caller,
            CopyRange { from, to, count },
            &mut Change::default(),
        )
    }

    pub(super) fn get_xattr(&self, node: &Node, of: impl AsRef<[u8]>) -> Result<Vec<u8>> {
        let mut value = b"before".to_vec();
        self.fs.require_xattrs()?.get_xattr(
            &self.caller,
            &node.handle,
            XattrName::parse(of.as_ref())?,
            &mut value,
        )?;
        if !value.starts_with(b"before") {
            return Err(FsError::ServerFault);
        }
        Ok(value.split_off(6))
    }

    pub(super) fn set_xattr(
        &self,
        node: &Node,
        of: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        mode: SetXattrMode,
    ) -> Result<()> {
        let (name, value) = (XattrName::parse(of.as_ref())?, value.as_ref());
        self.fs.require_xattrs()?.set_xattr(
            &self.caller,
            SetXattr::new(&node.handle, name, value, mode),
            &mut Change::default(),
        )
    }

    pub(super) fn remove_xattr(&self, node: &Node, of: impl AsRef<[u8]>) -> Result<()> {
        let name = XattrName::parse(of.as_ref())?;
        self.fs.require_xattrs()?.remove_xattr(&self.caller, &node.handle, name, &mut Change::default())
    }

    /// At most `most` names behind a cookie, the cookie behind the last, and whether that is all.
    pub(super) fn xattr_page(
        &self,
        node: &Node,
        cookie: u64,
        most: usize,
    ) -> Result<(Vec<Vec<u8>>, u64, bool)> {
        let (mut names, mut last) = (Vec::new(), cookie);
        let end = self.fs.require_xattrs()?.list_xattrs(
            &self.caller,
            &node.handle,
            cookie,
            &mut |name, cookie| {
                if names.len() == most {
                    return ControlFlow::Break(());
                }
                names.push(name.as_bytes().to_vec());
                last = cookie;
                ControlFlow::Continue(())
            },
        )?;
        Ok((names, last, end))
    }

    /// All names, sorted.
    pub(super) fn xattr_names(&self, node: &Node) -> Result<Vec<Vec<u8>>> {
        let (mut names, _, end) = self.xattr_page(node, 0, usize::MAX)?;
        names.sort();
        if end { Ok(names) } else { Err(FsError::ServerFault) }
    }
}
