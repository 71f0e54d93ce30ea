//! Names: looking them up, making nodes, removing and renaming them.

use std::sync::atomic::Ordering::Relaxed;

use fuser::{Errno, RenameFlags};
use howdah_vfs::{
    AddLink, Change, CreateFile, FileKind, FsError, Handle, MakeDirectory, MakeLink, MakeSpecial, Name,
    NewAttributes, Node, SpecialKind,
};

use crate::nodes::KernelNode;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;
use crate::who::Requester;

/// What a request makes.
pub enum Making<'a> {
    File,
    Directory,
    Link(&'a [u8]),
    Special(SpecialKind),
}

impl Shared {
    /// LOOKUP.
    pub fn lookup(&self, asker: Requester, parent: u64, name: &[u8]) -> Answer<Node> {
        let parent = self.nodes.of(parent)?;
        let caller = self.caller(asker);
        Ok(match name {
            // An NFS server on this machine asks so for a node that it got earlier.
            b"." => {
                let attributes = self.file_system.attributes(&caller, &parent.handle)?;
                Node { handle: parent.handle, attributes }
            }
            b".." => self.file_system.parent(&caller, &parent.handle)?.node,
            _ => self.file_system.lookup(&caller, &parent.handle, Name::parse(name)?)?.node,
        })
    }

    /// MKNOD, MKDIR and SYMLINK.
    pub fn make(
        &self,
        asker: Requester,
        parent: u64,
        name: &[u8],
        mode: u32,
        what: Making<'_>,
    ) -> Answer<Node> {
        let parent = self.nodes.of(parent)?;
        let (caller, name, mut change) = (self.caller(asker), Name::parse(name)?, Change::default());
        let (files, directory, change) = (&self.file_system, &parent.handle, &mut change);
        let new = NewAttributes::with_mode(mode & 0o7777);
        Ok(match what {
            Making::File => files.create(
                &caller,
                CreateFile::new(directory, name, &howdah_vfs::Create::Guarded(new)),
                change,
            ),
            Making::Directory => {
                files.make_directory(&caller, MakeDirectory::new(directory, name, &new), change)
            }
            // The mode of a symbolic link counts nowhere, and not every server takes one.
            Making::Link(target) => files.make_link(
                &caller,
                MakeLink::new(directory, name, target, &NewAttributes::default()),
                change,
            ),
            Making::Special(kind) => {
                files.make_special(&caller, MakeSpecial::new(directory, name, kind, &new), change)
            }
        }?)
    }

    /// LINK.
    pub fn link(&self, asker: Requester, number: u64, parent: u64, name: &[u8]) -> Answer<Node> {
        let (node, parent) = (self.nodes.of(number)?, self.nodes.of(parent)?);
        let (caller, name) = (self.caller(asker), Name::parse(name)?);
        let mut change = Change::default();
        let attributes =
            self.file_system.link(&caller, AddLink::new(&node.handle, &parent.handle, name), &mut change)?;
        Ok(Node { handle: node.handle, attributes })
    }

    /// UNLINK.
    pub fn remove(&self, asker: Requester, parent: u64, name: &[u8]) -> Answer<()> {
        let parent = self.nodes.of(parent)?;
        let (caller, name) = (self.caller(asker), Name::parse(name)?);
        if self.keep_if_open(&caller, &parent.handle, name)?.is_none() {
            self.file_system.remove(&caller, &parent.handle, name, &mut Change::default())?;
        }
        parent.names_lost.fetch_add(1, Relaxed);
        Ok(())
    }

    /// RMDIR.
    pub fn remove_directory(&self, asker: Requester, parent: u64, name: &[u8]) -> Answer<()> {
        let parent = self.nodes.of(parent)?;
        let (caller, name) = (self.caller(asker), Name::parse(name)?);
        self.file_system.remove_directory(&caller, &parent.handle, name, &mut Change::default())?;
        parent.names_lost.fetch_add(1, Relaxed);
        Ok(())
    }

    /// RENAME.
    pub fn rename(
        &self,
        asker: Requester,
        (parent, name): (u64, &[u8]),
        (new_parent, new_name): (u64, &[u8]),
        flags: RenameFlags,
    ) -> Answer<()> {
        let (parent, new_parent) = (self.nodes.of(parent)?, self.nodes.of(new_parent)?);
        let from = (&*parent, Name::parse(name)?);
        let to = (&*new_parent, Name::parse(new_name)?);
        if flags == RenameFlags::RENAME_NOREPLACE {
            self.rename_to_new(asker, from, to)?;
        } else if flags.is_empty() {
            self.replace(asker, from, to)?;
        } else {
            return Err(Refused(Errno::EINVAL));
        }
        parent.names_lost.fetch_add(1, Relaxed);
        new_parent.names_lost.fetch_add(1, Relaxed);
        Ok(())
    }

    fn replace(
        &self,
        asker: Requester,
        from: (&KernelNode, Name<'_>),
        to: (&KernelNode, Name<'_>),
    ) -> Answer<()> {
        let caller = self.caller(asker);
        let (from, to) = ((&from.0.handle, from.1), (&to.0.handle, to.1));
        let kept = match self.is_another(asker, from, to)? {
            true => {
                // What is replaced while it is open goes when it is closed: what replaces it must be safe before.
                if self.consistency.is_behind() && self.outlives(&caller, to.0, to.1)?.is_some() {
                    let source = self.file_system.lookup(&caller, from.0, from.1)?.node;
                    self.consistency.synced(&caller, &source.handle)?;
                }
                self.keep_if_open(&caller, to.0, to.1)?
            }
            false => None,
        };
        let mut changes = (Change::default(), Change::default());
        let renamed = self.file_system.rename(&caller, from, to, (&mut changes.0, &mut changes.1));
        if let (Err(error), Some((known, silly))) = (&renamed, &kept) {
            self.restore(known, silly, to.1, *error);
        }
        Ok(renamed?)
    }

    /// Whether the target is there and another file than the one that is renamed. Only asked while files are open.
    fn is_another(
        &self,
        asker: Requester,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
    ) -> Answer<bool> {
        if !self.nodes.any_open() {
            return Ok(false);
        }
        let caller = self.caller(asker);
        let target = match self.file_system.lookup(&caller, to.0, to.1) {
            Ok(found) => found.node,
            Err(FsError::NotFound) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let source = self.file_system.lookup(&caller, from.0, from.1)?.node;
        Ok(source.handle != target.handle && source.attributes.kind != FileKind::Directory)
    }

    /// Renames unless the new name is taken. NFS has no such call; a hard link is refused if the name is taken, and what is
    /// no directory can have one.
    fn rename_to_new(
        &self,
        asker: Requester,
        from: (&KernelNode, Name<'_>),
        to: (&KernelNode, Name<'_>),
    ) -> Answer<()> {
        let caller = self.caller(asker);
        let source = self.file_system.lookup(&caller, &from.0.handle, from.1)?.node;
        if source.attributes.kind == FileKind::Directory {
            return Err(Refused(Errno::EINVAL));
        }
        let mut change = Change::default();
        match self.file_system.link(&caller, AddLink::new(&source.handle, &to.0.handle, to.1), &mut change) {
            Err(FsError::NotSupported | FsError::NotPermitted | FsError::TooManyLinks) => {
                return Err(Refused(Errno::EINVAL));
            }
            linked => linked?,
        };
        Ok(self.file_system.remove(&caller, &from.0.handle, from.1, &mut Change::default())?)
    }
}
