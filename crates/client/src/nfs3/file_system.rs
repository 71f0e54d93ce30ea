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
use crate::common::{DirectoryPages, ReadRange, Transfers, common_calls, transfers};

transfers!(Nfs3, channel);

impl FileSystem for Nfs3 {
    common_calls!();

    fn root(&self) -> Handle {
        self.root
    }

    fn acls(&self) -> Option<&dyn PosixAcls> {
        self.may_have_acls().then_some(self)
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.set(caller, node, new, guard, change)
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

    fn link(
        &self,
        caller: &Caller,
        AddLink { node, directory, name }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        self.link_node(caller, node, directory, name, change)
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
