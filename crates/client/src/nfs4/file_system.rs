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
use crate::common::{DirectoryPages, ReadRange, Transfers};

impl FileSystem for Nfs4Client {
    fn root(&self) -> Handle {
        self.root.handle
    }

    fn waits(&self) -> bool {
        true
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

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.note_root(node, self.get_attributes(caller, node))
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.set(caller, set, change)
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

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.rename_node(caller, from, to, changes)
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.link_node(caller, link, change)
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

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.commit_range(caller, commit, change)
    }
}
