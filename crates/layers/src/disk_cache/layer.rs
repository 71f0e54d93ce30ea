//! The layer: each call of the trait, what it says of a file, and what it does to what is kept.

use std::ops::ControlFlow;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CopyRange, Create, CreateFile, Data,
    Entry, FileExtent, FileLock, FileSystem, Found, Handle, ListDirectory, Listing, Name, Node, ReadFile,
    ReadOutcome, Result, SetAcl, SetAttributes, SetXattr, WriteFile, Written, XattrName,
};

use super::cache::{DiskCache, FileEffect};

impl Layer for DiskCache {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let asked = self.now();
        let attributes = self.inner.attributes(caller, node)?;
        self.told(node, &attributes, asked);
        Ok(attributes)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        let new = set.new;
        let sets_rights = new.mode.is_some() || new.user.is_some() || new.group.is_some();
        let cut = new.size.map_or(0..0, |size| size..u64::MAX);
        self.change(set.node, FileEffect { cut, sets_rights }, change, |inner, change| {
            inner.set_attributes(caller, set, change)
        })
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let asked = self.now();
        let found = self.inner.lookup(caller, directory, name)?;
        self.told(&found.node.handle, &found.node.attributes, asked);
        Ok(found)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let asked = self.now();
        let (granted, attributes) = self.inner.access(caller, node, wanted)?;
        match granted.contains(Access::READ) {
            true => self.let_read(caller, node, &attributes, asked),
            false => self.told(node, &attributes, asked),
        }
        Ok((granted, attributes))
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        self.answer(caller, read, buffer)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let (node, offset) = (write.node, write.offset);
        let bytes = match &write.data {
            Data::Shared(bytes) => Some(bytes.clone()),
            _ => None,
        };
        let effect = FileEffect::cuts(offset, write.data.len() as u64);
        self.change(node, effect, change, |inner, change| {
            let written = inner.write(caller, write, change)?;
            if let (Some(bytes), Some(after)) = (bytes, &change.after) {
                self.put_written(node, offset, &bytes.slice(..written.count.min(bytes.len())), after);
            }
            Ok(written)
        })
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        let asked = self.now();
        let node = self.inner.create(caller, create, change)?;
        // It may have been there, and be empty now.
        if matches!(create.how, Create::Unchecked(new) if new.size.is_some()) {
            self.forget(&node.handle);
        }
        self.told(&node.handle, &node.attributes, asked);
        Ok(node)
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        let asked = self.now();
        let attributes = self.inner.link(caller, link, change)?;
        self.told(link.node, &attributes, asked);
        Ok(attributes)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let asked = self.now();
        self.inner.read_directory(caller, list, &mut |entry| {
            if let Some(node) = entry.node {
                self.told(&node.handle, &node.attributes, asked);
            }
            sink(entry)
        })
    }

    /// It changes no data, and many servers do not say what the file was like before.
    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        let asked = self.now();
        let committed = self.inner.commit(caller, commit, change)?;
        if let Some(after) = &change.after {
            self.told(commit.node, after, asked);
        }
        Ok(committed)
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.change(extent.node, FileEffect::NONE, change, |inner, change| {
            inner.require_ranges()?.allocate(caller, extent, change)
        })
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let effect = FileEffect::cuts(extent.offset, extent.length);
        self.change(extent.node, effect, change, |inner, change| {
            inner.require_ranges()?.deallocate(caller, extent, change)
        })
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        self.change(copy.to.0, copied(&copy), change, |inner, change| {
            inner.require_ranges()?.copy_range(caller, copy, change)
        })
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        self.change(copy.to.0, copied(&copy), change, |inner, change| {
            inner.require_ranges()?.clone_range(caller, copy, change)
        })
    }

    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()> {
        let effect = FileEffect { sets_rights: true, ..FileEffect::NONE };
        self.change(set.node, effect, change, |inner, change| {
            inner.require_acls()?.set_acl(caller, set, change)
        })
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        self.change(set.node, FileEffect::NONE, change, |inner, change| {
            inner.require_xattrs()?.set_xattr(caller, set, change)
        })
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change(node, FileEffect::NONE, change, |inner, change| {
            inner.require_xattrs()?.remove_xattr(caller, node, name, change)
        })
    }

    /// What others wrote before they unlocked is asked for again.
    fn lock_range(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
        waits: bool,
    ) -> Result<Option<FileLock>> {
        let conflict = self.inner.require_file_locks()?.lock_range(caller, node, owner, lock, waits)?;
        if conflict.is_none() {
            self.doubt(node);
        }
        Ok(conflict)
    }
}

/// What a copy replaces; a count of 0 means up to the end of its source.
fn copied(copy: &CopyRange<'_>) -> FileEffect {
    FileEffect::cuts(copy.to.1, if copy.count == 0 { u64::MAX } else { copy.count })
}
