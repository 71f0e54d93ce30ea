//! The table: each call of the trait to the file of its procedure.

use std::ops::ControlFlow;

use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CreateFile, Data, Entry, FileRange,
    FileSystem, Found, FsError, Handle, Limits, ListDirectory, Listing, MakeDirectory, MakeLink, MakeSpecial,
    Name, Node, PosixAcls, ReadFile, ReadOutcome, Result, SetAttributes, Statistics, WriteFile, Written,
};

use super::client::Nfs3;
use super::made::Place;
use super::remove::{REMOVE, RMDIR};
use crate::channel::Payload;
use crate::common::{DirectoryPages, ReadRange, Transfers};

impl FileSystem for Nfs3 {
    fn root(&self) -> Handle {
        self.root
    }

    fn waits(&self) -> bool {
        true
    }

    fn acls(&self) -> Option<&dyn PosixAcls> {
        self.may_have_acls().then_some(self)
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.note_root(node, self.get_attributes(caller, node))
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.set(caller, node, new, guard, change)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.note_root(directory, self.look_up(caller, directory, name.as_bytes()))
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        self.look_up_parent(caller, directory)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.note_root(node, self.check_access(caller, node, wanted))
    }

    fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        self.read_target(caller, node, target)
    }

    fn read(
        &self,
        caller: &Caller,
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        self.read_range(ReadRange { caller, node, offset, count }, buffer)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let data = match data {
            Data::File(FileRange { file, offset, length }) => Payload::File { file, offset, length },
            data => data.into_shared().map_err(|_| FsError::Io)?.into(),
        };
        self.write_range((caller, node), (offset, data), stability, change)
    }

    fn create(
        &self,
        caller: &Caller,
        CreateFile { directory, name, how }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_file(Place { caller, directory, name }, how, change)
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_directory(Place { caller, directory, name }, new, change)
    }

    fn make_link(
        &self,
        caller: &Caller,
        MakeLink { directory, name, target, new }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_link(Place { caller, directory, name }, target, new, change)
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind, new }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.create_special(Place { caller, directory, name }, kind, new, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.remove_by(REMOVE, caller, directory, name, change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.remove_by(RMDIR, caller, directory, name, change)
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.rename_node(caller, from, to, changes)
    }

    fn link(
        &self,
        caller: &Caller,
        AddLink { node, directory, name }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        self.link_node(caller, node, directory, name, change)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.list(caller, directory, cookie, detail, sink)
    }

    fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        self.told_statistics(caller, node)
    }

    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        self.told_limits(caller, node)
    }

    fn commit(
        &self,
        caller: &Caller,
        CommitFile { node, offset, count }: CommitFile<'_>,
        change: &mut Change,
    ) -> Result<Committed> {
        self.commit_range(caller, node, offset, count, change)
    }
}
