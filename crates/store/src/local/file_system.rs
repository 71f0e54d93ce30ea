//! The table: each call of the trait and the operation that does it. Holds the state that operations share.

use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CreateFile, Entry,
    ExtendedAttributes, FileSystem, Found, Handle, HostLocks, KeptOpen, Limits, ListDirectory, Listing,
    LocalChanges, MakeDirectory, MakeLink, MakeSpecial, Name, Node as Named, PosixAcls, Quotas,
    RangeOperations, ReadFile, ReadOutcome, Result, SetAttributes, Statistics, WriteFile, Written,
};

use super::cache::NodeCache;
use super::change_locks::ChangeLocks;
use super::change_times::ChangeTimes;
use super::exclusive::Verifiers;
use super::handles::{Finder, Maker};
use super::held_files::HeldFiles;
use super::housekeeper::Housekeeper;
use super::identity::Identity;
use super::known::KnownHandles;
use super::local_watch::LocalWatch;
use super::locked_files::LockedFiles;
use super::node::Node;
use super::options::Mode;
use super::presence::PathWatch;
use super::reserve::Reserve;
use super::stream::Streams;
use super::tree::Tree;
use super::unnamed::Unnamed;
use super::verifier::Verifier;

/// A directory as a file system.
pub struct LocalFileSystem {
    pub(super) tree: Arc<Tree>,
    pub(super) maker: Maker,
    pub(super) mode: Mode,
    pub(super) identity: Identity,
    /// Finds nodes where the kernel opens no handles.
    pub(super) finder: Option<Finder>,
    pub(super) nodes: Arc<NodeCache>,
    pub(super) held: Arc<HeldFiles>,
    pub(super) known: KnownHandles,
    pub(super) root: Arc<Node>,
    pub(super) changes: ChangeLocks,
    pub(super) times: ChangeTimes,
    pub(super) reserve: Reserve,
    pub(super) streams: Arc<Streams>,
    pub(super) verifier: Arc<Verifier>,
    /// Of exclusive CREATE.
    pub(super) verifiers: Verifiers,
    pub(super) locked: LockedFiles,
    pub(super) unnamed: Unnamed,
    /// Whether changes of metadata are made durable before they are answered.
    pub(super) syncs: bool,
    /// As [`Options::overrides_own_modes`](super::Options::overrides_own_modes).
    pub(super) overrides_own_modes: bool,
    /// Whether its nodes can have extended attributes of users.
    pub(super) has_xattrs: bool,
    /// Whether its nodes can have POSIX ACLs that hold for its callers.
    pub(super) has_acls: bool,
    /// Whether ranges of its files can be cloned.
    pub(super) clones: bool,
    pub(super) watch: Arc<PathWatch>,
    pub(super) local_watch: LocalWatch,
    pub(super) _housekeeper: Housekeeper,
}

impl FileSystem for LocalFileSystem {
    fn root(&self) -> Handle {
        self.root.handle
    }

    fn ranges(&self) -> Option<&dyn RangeOperations> {
        Some(self)
    }

    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        self.has_xattrs.then_some(self)
    }

    fn acls(&self) -> Option<&dyn PosixAcls> {
        self.has_acls.then_some(self)
    }

    fn let_go(&self) {
        self.nodes.let_go();
    }

    fn keep_open(&self, file: &Handle) -> Option<KeptOpen> {
        let node = self.node(file).ok()?;
        self.held.hold(&self.tree, &node)
    }

    fn is_junction(&self, directory: &Handle) -> bool {
        self.is_root_of_another(directory)
    }

    fn has_default_acl(&self, directory: &Handle) -> bool {
        self.has_default_acl_of(directory)
    }

    fn local_changes(&self) -> Option<&dyn LocalChanges> {
        self.local_changes_obstacle().is_none().then_some(self)
    }

    fn quotas(&self) -> Option<&dyn Quotas> {
        self.identity.acts_as_caller.then_some(self)
    }

    fn host_locks(&self) -> Option<&dyn HostLocks> {
        self.locked.is_local().then_some(self)
    }

    fn attributes(&self, _caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.get_attributes(node)
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.set_node_attributes(caller, node, new, guard, change)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.look_up(caller, directory, name)
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        self.look_up_parent(caller, directory)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.check_access(caller, node, wanted)
    }

    fn read_link(&self, _caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        self.read_target(node, target)
    }

    fn read(
        &self,
        caller: &Caller,
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        self.read_file(caller, node, offset, count, buffer)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        self.write_file(caller, node, offset, data, stability, change)
    }

    fn create(
        &self,
        caller: &Caller,
        CreateFile { directory, name, how }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        self.create_file(caller, directory, name, how, change)
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        self.create_directory(caller, directory, name, new, change)
    }

    fn make_link(
        &self,
        caller: &Caller,
        MakeLink { directory, name, target, new }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        self.create_link(caller, directory, name, target, new, change)
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind, new }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        self.create_special(caller, directory, name, kind, new, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.remove_name(caller, directory, name, change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.remove_empty(caller, directory, name, change)
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

    fn statistics(&self, _caller: &Caller, node: &Handle) -> Result<Statistics> {
        self.get_statistics(node)
    }

    fn limits(&self, _caller: &Caller, node: &Handle) -> Result<Limits> {
        self.get_limits(node)
    }

    fn commit(
        &self,
        caller: &Caller,
        CommitFile { node, .. }: CommitFile<'_>,
        change: &mut Change,
    ) -> Result<Committed> {
        self.commit_file(caller, node, change)
    }
}
