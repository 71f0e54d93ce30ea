//! The table: each call of the trait to the file of its compound.

use std::ops::ControlFlow;

use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CreateFile, Data,
    DirectoryDelegations, Entry, ExtendedAttributes, FileLocks, FileRange, FileSystem, Found, FsError,
    Handle, Limits, ListDirectory, Listing, LockFreed, MakeDirectory, MakeLink, MakeSpecial, Name, Node,
    RangeOperations, ReadFile, ReadOutcome, Result, SetAttributes, Statistics, WholeFiles, WriteFile,
    Written,
};
use howdah_wire::nfs4::LinkTarget;
use howdah_wire::nfs4::create::NewNode;

use super::client::Nfs4Client;
use super::make::{NewName, special};
use crate::channel::Payload;
use crate::common::{DirectoryPages, ReadRange, Transfers, common_calls, transfers};

transfers!(Nfs4Client, calls.channel);

impl FileSystem for Nfs4Client {
    common_calls!();

    fn root(&self) -> Handle {
        self.root.handle
    }

    fn ranges(&self) -> Option<&dyn RangeOperations> {
        self.range_operations()
    }

    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        self.extended_attributes()
    }

    fn may_get_xattrs(&self) -> bool {
        self.calls.session.minor_version() >= 2
    }

    fn file_locks(&self) -> Option<&dyn FileLocks> {
        Some(self)
    }

    fn whole_files(&self) -> Option<&dyn WholeFiles> {
        self.making.puts_whole().then_some(self)
    }

    fn directory_delegations(&self) -> Option<&dyn DirectoryDelegations> {
        self.calls.session.back().is_up().then_some(self)
    }

    fn watch_locks(&self, freed: LockFreed) {
        self.calls.session.back().watch_locks(freed);
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.set(caller, set, change)
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

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        self.create_file(caller, create, change)
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.make(NewName { caller, directory, name }, NewNode::Directory, new, change)
    }

    fn make_link(
        &self,
        caller: &Caller,
        MakeLink { directory, name, target, new }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        let node = NewNode::SymbolicLink(LinkTarget(target));
        self.make(NewName { caller, directory, name }, node, new, change)
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind, new }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.make(NewName { caller, directory, name }, special(kind), new, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.remove_name(caller, (directory, name), change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.remove_directory_name(caller, (directory, name), change)
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.link_node(caller, link, change)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.commit_range(caller, commit, change)
    }
}
