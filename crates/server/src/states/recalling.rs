//! A file system whose changes wait for the delegations of the files and directories that they change.

use std::sync::Arc;

use howdah_state::{Changing, ClientId, UnnamedChange};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    AddLink, Attributes, Before, Caller, Change, CopyRange, Create, CreateFile, FileExtent, FileSystem,
    FsError, Handle, MakeDirectory, MakeLink, MakeSpecial, Name, Node, ReadFile, ReadOutcome, Result, SetAcl,
    SetAttributes, SetXattr, WriteFile, Written, XattrName,
};

use super::file_key::FileKey;
use super::states::States;
use crate::counts::Timed;
use crate::exports::Export;

/// Who changes files of an export.
#[derive(Clone, Copy)]
pub struct Changer<'s> {
    states: &'s Arc<States>,
    export: &'s Export,
    client: Option<ClientId>,
}

/// The same files. Changes of those that others have delegations of are refused with [`FsError::Delay`] until those are back.
#[derive(Clone, Copy)]
pub struct Recalling<'f> {
    inner: Timed<'f>,
    changer: Option<Changer<'f>>,
}

/// A change of a file that is under way. Whoever was given a delegation meanwhile that it concerns has it asked for back when this is
/// dropped.
pub struct FileChange<'s> {
    changer: Changer<'s>,
    file: FileKey,
    changing: Changing<'s>,
}

impl<'s> Changer<'s> {
    /// Whoever calls, who is perhaps a client of NFSv4. `None` where nobody has delegations.
    pub fn of(states: Option<&'s Arc<States>>, export: &'s Export, client: Option<ClientId>) -> Option<Self> {
        let states = states.filter(|states| states.changes().are_watched(export.delegations()))?;
        Some(Self { states, export, client })
    }

    fn must_wait(&self) -> bool {
        self.states.changes().must_wait(self.client, self.export.delegations())
    }
}

impl FileChange<'_> {
    /// The directory that changes has a new node in it.
    fn add(&self, node: &Handle, seen: Option<&Attributes>) {
        if self.changing.may_be_delegated() {
            self.changer.states.add_child(self.changer.export, &self.file.node, node, seen);
        }
    }

    /// The file has several names now.
    fn watch(&self) {
        if self.changing.may_be_delegated() {
            self.changer.states.watch_linked(self.changer.export, &self.file.node);
        }
    }
}

impl Drop for FileChange<'_> {
    fn drop(&mut self) {
        if self.changing.may_be_delegated() {
            self.changer.states.recall_changed(&self.file, self.changer.client);
        }
    }
}

impl<'f> Recalling<'f> {
    /// Around a file system.
    pub fn around(inner: Timed<'f>, changer: Option<Changer<'f>>) -> Self {
        Self { inner, changer }
    }

    /// A change of a file begins. It is over when what is returned is dropped.
    ///
    /// # Errors
    /// [`FsError::Delay`] while others have delegations of it.
    pub fn begin_change(&self, node: &Handle) -> Result<Option<FileChange<'f>>> {
        let Some(changer) = self.changer else { return Ok(None) };
        if changer.must_wait() {
            return Err(FsError::Delay);
        }
        let file = FileKey { export: changer.export.id(), node: *node };
        let changing = changer.states.begin_change(&file, changer.client).map_err(|_| FsError::Delay)?;
        Ok(Some(FileChange { changer, file, changing }))
    }

    /// A change begins of whatever it is that has the names of a call, if nobody has a delegation of anything.
    fn begin_unnamed_change(&self) -> Option<UnnamedChange<'f>> {
        let changer = self.changer?;
        if changer.must_wait() { None } else { changer.states.changes().begin_unnamed() }
    }

    /// The same for what has a name, if anything has.
    fn begin_change_of(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
    ) -> Result<Option<FileChange<'f>>> {
        if self.changer.is_none() {
            return Ok(None);
        }
        // Whatever is wrong with the name, the call itself says.
        match FileSystem::lookup(&self.inner, caller, directory, name) {
            Ok(found) => self.begin_change(&found.node.handle),
            Err(_) => Ok(None),
        }
    }

    /// Makes a node in a directory.
    fn make(&self, directory: &Handle, run: impl FnOnce() -> Result<Node>) -> Result<Node> {
        let change = self.begin_change(directory)?;
        let made = run();
        if let (Some(change), Ok(node)) = (change, &made) {
            change.add(&node.handle, Some(&node.attributes));
        }
        made
    }
}

impl Layer for Recalling<'_> {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    /// What changes no file passes as if this layer were not there.
    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        Layer::pass(&self.inner, call, run)
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        Layer::read(&self.inner, caller, read, buffer)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        let _change = self.begin_change(set.node)?;
        FileSystem::set_attributes(&self.inner, caller, set, change)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let _change = self.begin_change(write.node)?;
        FileSystem::write(&self.inner, caller, write, change)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        if let Some(_change) = self.begin_unnamed_change() {
            return FileSystem::create(&self.inner, caller, create, change);
        }
        let directory = create.directory;
        // What is there may be cut, and the directory stays as it is.
        let is_opened = matches!(create.how, Create::Unchecked(_));
        let file = if is_opened { self.begin_change_of(caller, directory, create.name)? } else { None };
        if file.is_none() {
            return self.make(directory, || FileSystem::create(&self.inner, caller, create, change));
        }
        let made = FileSystem::create(&self.inner, caller, create, change);
        let is_unchanged = change.after.is_some_and(|after| change.before == Some(Before::from(&after)));
        if !is_unchanged {
            // It was removed meanwhile, and made: who has the directory must hear of it.
            let _ = self.begin_change(directory);
        }
        made
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.make(make.directory, || FileSystem::make_directory(&self.inner, caller, make, change))
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        self.make(make.directory, || FileSystem::make_link(&self.inner, caller, make, change))
    }

    fn make_special(&self, caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Result<Node> {
        self.make(make.directory, || FileSystem::make_special(&self.inner, caller, make, change))
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        if let Some(_change) = self.begin_unnamed_change() {
            return FileSystem::remove(&self.inner, caller, directory, name, change);
        }
        let _directory = self.begin_change(directory)?;
        let _change = self.begin_change_of(caller, directory, name)?;
        FileSystem::remove(&self.inner, caller, directory, name, change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        if let Some(_change) = self.begin_unnamed_change() {
            return FileSystem::remove_directory(&self.inner, caller, directory, name, change);
        }
        let _directory = self.begin_change(directory)?;
        let _change = self.begin_change_of(caller, directory, name)?;
        FileSystem::remove_directory(&self.inner, caller, directory, name, change)
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        if let Some(_change) = self.begin_unnamed_change() {
            return FileSystem::rename(&self.inner, caller, from, to, changes);
        }
        let _left = self.begin_change(from.0)?;
        let entered = self.begin_change(to.0)?;
        let moved = self.begin_change_of(caller, from.0, from.1)?;
        let _replaced = self.begin_change_of(caller, to.0, to.1)?;
        let outcome = FileSystem::rename(&self.inner, caller, from, to, changes);
        if let (Some(entered), Some(moved), Ok(())) = (&entered, &moved, &outcome) {
            entered.add(&moved.file.node, None);
        }
        outcome
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        let directory = self.begin_change(link.directory)?;
        let file = self.begin_change(link.node)?;
        let outcome = FileSystem::link(&self.inner, caller, link, change);
        if let (Some(directory), Some(file), Ok(seen)) = (&directory, &file, &outcome) {
            // By its new name it can be changed without its old directory.
            file.watch();
            directory.add(link.node, Some(seen));
        }
        outcome
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let _change = self.begin_change(extent.node)?;
        Layer::allocate(&self.inner, caller, extent, change)
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let _change = self.begin_change(extent.node)?;
        Layer::deallocate(&self.inner, caller, extent, change)
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let _change = self.begin_change(copy.to.0)?;
        Layer::copy_range(&self.inner, caller, copy, change)
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        let _change = self.begin_change(copy.to.0)?;
        Layer::clone_range(&self.inner, caller, copy, change)
    }

    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()> {
        let _change = self.begin_change(set.node)?;
        Layer::set_acl(&self.inner, caller, set, change)
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        let _change = self.begin_change(set.node)?;
        Layer::set_xattr(&self.inner, caller, set, change)
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let _change = self.begin_change(node)?;
        Layer::remove_xattr(&self.inner, caller, node, name, change)
    }
}
