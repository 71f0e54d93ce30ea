//! Replaces handles that are too long for a protocol by short numbers, and keeps the long ones in a book.

use std::hash::Hasher;
use std::ops::ControlFlow;
use std::sync::Arc;

use siphasher::sip128::{Hasher128, SipHasher24};

use crate::{
    Access, Acl, AclKind, AddLink, Attributes, Caller, Change, CommitFile, Committed, CopyRange, CreateFile,
    Entry, ExtendedAttributes, FileExtent, FileSystem, Found, FsError, Handle, Limits, ListDirectory,
    Listing, MakeDirectory, MakeLink, MakeSpecial, Name, Node, PosixAcls, RangeOperations, ReadFile,
    ReadOutcome, Result, SeekOutcome, SeekTarget, SetAcl, SetAttributes, SetXattr, Statistics, WriteFile,
    Written, XattrName,
};

/// A short handle of this kind holds the file system's own one.
const WHOLE: u8 = 0;
/// A short handle of this kind holds the number of one in the book.
const NUMBERED: u8 = 1;

/// The number of a long handle: a keyed hash, so that nobody finds two handles with one number.
pub type HandleNumber = [u8; 16];

/// Where long handles are kept by their numbers.
pub trait HandleBook: Send + Sync {
    /// The handle of this number.
    fn find(&self, number: &HandleNumber) -> Option<Handle>;

    /// Keeps handles, across restarts if the book is durable. A client may have their numbers once this returns.
    ///
    /// # Errors
    /// They could not be written: no client may have the numbers.
    fn keep(&self, handles: &[(HandleNumber, Handle)]) -> Result<()>;
}

/// A file system whose handles have at most a given length.
pub struct ShortHandles<B> {
    inner: Arc<dyn FileSystem>,
    book: B,
    hash: SipHasher24,
    longest: usize,
}

impl<B: HandleBook> ShortHandles<B> {
    /// The same files under handles of at most `longest` bytes, at least 17. The key must stay the same across restarts.
    ///
    /// # Errors
    /// The book cannot keep the handle of the root.
    pub fn around(inner: Arc<dyn FileSystem>, book: B, key: [u8; 16], longest: usize) -> Result<Self> {
        let layer = Self { inner, book, hash: SipHasher24::new_with_key(&key), longest };
        layer.short(&layer.inner.root())?;
        Ok(layer)
    }

    /// A handle as callers know it, and its number if the book must keep it first.
    fn shorten(&self, long: &Handle) -> (Handle, Option<HandleNumber>) {
        let bytes = long.as_bytes();
        let mut short = [WHOLE; Handle::MAX];
        if bytes.len() < self.longest {
            short[1..=bytes.len()].copy_from_slice(bytes);
            return (Handle::new(&short[..=bytes.len()]).expect("shorter than the longest"), None);
        }
        let mut hash = self.hash;
        hash.write(bytes);
        let number: HandleNumber = hash.finish128().as_bytes();
        (numbered(&number), Some(number))
    }

    fn short(&self, long: &Handle) -> Result<Handle> {
        let (short, number) = self.shorten(long);
        if let Some(number) = number {
            self.keep(&mut vec![(number, *long)])?;
        }
        Ok(short)
    }

    /// Writes down what the book does not have yet.
    fn keep(&self, handles: &mut Vec<(HandleNumber, Handle)>) -> Result<()> {
        handles.retain(|(number, _)| self.book.find(number).is_none());
        if handles.is_empty() { Ok(()) } else { self.book.keep(handles) }
    }

    fn long(&self, short: &Handle) -> Result<Handle> {
        match short.as_bytes().split_first() {
            Some((&WHOLE, bytes)) => Handle::new(bytes).map_err(|_| FsError::BadHandle),
            Some((&NUMBERED, number)) => {
                let number = number.try_into().map_err(|_| FsError::BadHandle)?;
                self.book.find(number).ok_or(FsError::Stale)
            }
            _ => Err(FsError::BadHandle),
        }
    }

    fn node(&self, node: Node) -> Result<Node> {
        Ok(Node { handle: self.short(&node.handle)?, ..node })
    }
}

fn numbered(number: &HandleNumber) -> Handle {
    let mut bytes = [NUMBERED; 17];
    bytes[1..].copy_from_slice(number);
    Handle::new(&bytes).expect("17 bytes fit")
}

impl<B: HandleBook> FileSystem for ShortHandles<B> {
    fn root(&self) -> Handle {
        self.shorten(&self.inner.root()).0
    }

    fn waits(&self) -> bool {
        self.inner.waits()
    }

    fn ranges(&self) -> Option<&dyn RangeOperations> {
        self.inner.ranges().map(|_| self as _)
    }

    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        self.inner.xattrs().map(|_| self as _)
    }

    fn may_get_xattrs(&self) -> bool {
        self.inner.may_get_xattrs()
    }

    fn acls(&self) -> Option<&dyn PosixAcls> {
        self.inner.acls().map(|_| self as _)
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.inner.attributes(caller, &self.long(node)?)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.inner.set_attributes(caller, SetAttributes { node: &self.long(set.node)?, ..set }, change)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let found = self.inner.lookup(caller, &self.long(directory)?, name)?;
        Ok(Found { node: self.node(found.node)?, ..found })
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        let found = self.inner.parent(caller, &self.long(directory)?)?;
        Ok(Found { node: self.node(found.node)?, ..found })
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.inner.access(caller, &self.long(node)?, wanted)
    }

    fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        self.inner.read_link(caller, &self.long(node)?, target)
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        self.inner.read(caller, ReadFile { node: &self.long(read.node)?, ..read }, buffer)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let WriteFile { node, offset, data, stability } = write;
        self.inner.write(caller, WriteFile::new(&self.long(node)?, offset, data, stability), change)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        let directory = &self.long(create.directory)?;
        self.node(self.inner.create(caller, CreateFile { directory, ..create }, change)?)
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        let directory = &self.long(make.directory)?;
        self.node(self.inner.make_directory(caller, MakeDirectory { directory, ..make }, change)?)
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        let directory = &self.long(make.directory)?;
        self.node(self.inner.make_link(caller, MakeLink { directory, ..make }, change)?)
    }

    fn make_special(&self, caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Result<Node> {
        let directory = &self.long(make.directory)?;
        self.node(self.inner.make_special(caller, MakeSpecial { directory, ..make }, change)?)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.inner.remove(caller, &self.long(directory)?, name, change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.inner.remove_directory(caller, &self.long(directory)?, name, change)
    }

    fn rename(
        &self,
        caller: &Caller,
        (from, old): (&Handle, Name<'_>),
        (to, new): (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.inner.rename(caller, (&self.long(from)?, old), (&self.long(to)?, new), changes)
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        let (node, directory) = (&self.long(link.node)?, &self.long(link.directory)?);
        self.inner.link(caller, AddLink { node, directory, ..link }, change)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let mut new = Vec::new();
        let directory = &self.long(list.directory)?;
        let list = ListDirectory { directory, ..list };
        let listing = self.inner.read_directory(caller, list, &mut |entry| {
            let node = entry.node.map(|node| {
                let (handle, number) = self.shorten(&node.handle);
                new.extend(number.map(|number| (number, node.handle)));
                Node { handle, ..*node }
            });
            sink(Entry { node: node.as_ref(), ..entry })
        })?;
        // Together: one write for a whole page of names, before anybody sees them.
        self.keep(&mut new)?;
        Ok(listing)
    }

    fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        self.inner.statistics(caller, &self.long(node)?)
    }

    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        self.inner.limits(caller, &self.long(node)?)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.inner.commit(caller, CommitFile { node: &self.long(commit.node)?, ..commit }, change)
    }
}

impl<B: HandleBook> RangeOperations for ShortHandles<B> {
    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        self.inner.require_ranges()?.seek(caller, &self.long(node)?, offset, target)
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let node = &self.long(extent.node)?;
        self.inner.require_ranges()?.allocate(caller, FileExtent { node, ..extent }, change)
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let node = &self.long(extent.node)?;
        self.inner.require_ranges()?.deallocate(caller, FileExtent { node, ..extent }, change)
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let (source, target) = (self.long(copy.from.0)?, self.long(copy.to.0)?);
        let copy = CopyRange::new((&source, copy.from.1), (&target, copy.to.1), copy.count);
        self.inner.require_ranges()?.copy_range(caller, copy, change)
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        let (source, target) = (self.long(copy.from.0)?, self.long(copy.to.0)?);
        let copy = CopyRange::new((&source, copy.from.1), (&target, copy.to.1), copy.count);
        self.inner.require_ranges()?.clone_range(caller, copy, change)
    }
}

impl<B: HandleBook> ExtendedAttributes for ShortHandles<B> {
    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        self.inner.require_xattrs()?.get_xattr(caller, &self.long(node)?, name, value)
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        self.inner.require_xattrs()?.set_xattr(
            caller,
            SetXattr { node: &self.long(set.node)?, ..set },
            change,
        )
    }

    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        self.inner.require_xattrs()?.list_xattrs(caller, &self.long(node)?, cookie, sink)
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.inner.require_xattrs()?.remove_xattr(caller, &self.long(node)?, name, change)
    }
}

impl<B: HandleBook> PosixAcls for ShortHandles<B> {
    fn get_acl(&self, caller: &Caller, node: &Handle, kind: AclKind) -> Result<Option<Acl>> {
        self.inner.require_acls()?.get_acl(caller, &self.long(node)?, kind)
    }

    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()> {
        self.inner.require_acls()?.set_acl(caller, SetAcl { node: &self.long(set.node)?, ..set }, change)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use parking_lot::Mutex;

    use super::*;
    use crate::conformance::{self, Abilities, Subject};
    use crate::memory::{MemoryFileSystem, MemoryOptions};

    #[derive(Default)]
    struct Memory {
        handles: Mutex<HashMap<HandleNumber, Handle>>,
        is_full: bool,
    }

    impl HandleBook for Memory {
        fn find(&self, number: &HandleNumber) -> Option<Handle> {
            self.handles.lock().get(number).copied()
        }

        fn keep(&self, handles: &[(HandleNumber, Handle)]) -> Result<()> {
            if self.is_full {
                return Err(FsError::NoSpace);
            }
            self.handles.lock().extend(handles.iter().copied());
            Ok(())
        }
    }

    /// Handles of the memory file system have 16 bytes: all are too long, or none.
    fn around(longest: usize) -> Result<ShortHandles<Memory>> {
        let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
        let memory = Arc::new(MemoryFileSystem::with_options(options));
        ShortHandles::around(memory, Memory::default(), [7; 16], longest)
    }

    #[test]
    fn it_is_the_same_file_system_with_kept_and_with_whole_handles() {
        for (longest, length) in [(16, 17), (17, 17), (18, 17)] {
            assert_eq!(around(longest).expect("kept").root().as_bytes().len(), length);
            let abilities = || Abilities { many_entries: 1_000, ..Abilities::default() };
            let make = || Subject::new(Arc::new(around(longest).expect("kept")), abilities());
            let report = conformance::run(&make);
            assert!(report.is_success(), "{longest}: {report}");
            assert_eq!(report.skipped().count(), 0, "{longest}: {report}");
        }
    }

    #[test]
    fn what_is_no_handle_of_it_is_refused() {
        let layer = around(16).expect("kept");
        let attributes = |bytes: &[u8]| {
            layer.attributes(&Caller::ROOT, &Handle::new(bytes).expect("short")).expect_err("refused")
        };
        assert_eq!(attributes(&[]), FsError::BadHandle);
        assert_eq!(attributes(&[NUMBERED, 1]), FsError::BadHandle);
        assert_eq!(attributes(&[2; 17]), FsError::BadHandle);
        assert_eq!(attributes(&[NUMBERED; 17]), FsError::Stale, "a number that the book does not have");
    }

    #[test]
    fn no_handle_is_given_that_the_book_does_not_keep() {
        let memory = Arc::new(MemoryFileSystem::new());
        let full = Memory { is_full: true, ..Memory::default() };
        let refused = ShortHandles::around(memory, full, [7; 16], 16).err();
        assert_eq!(refused, Some(FsError::NoSpace));
    }
}
