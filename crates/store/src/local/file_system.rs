//! The local directory's face as a `FileSystem`: the parts, and which of them does each call.

use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CreateFile, Entry,
    ExtendedAttributes, FileSystem, Found, Handle, HostLocks, KeptOpen, Limits, ListDirectory, Listing,
    LocalChanges, MakeDirectory, MakeLink, MakeSpecial, Name, Node as Named, PosixAcls, Quotas,
    RangeOperations, ReadFile, ReadOutcome, Result, SetAttributes, Statistics, WriteFile, Written,
};
use rustix::fs::AtFlags;

use super::access::check_access;
use super::cache::NodeCache;
use super::create::NodeMaker;
use super::data_files::DataFiles;
use super::directory::DirectoryLister;
use super::exclusive::Verifiers;
use super::host_locks::ClientLocks;
use super::housekeeper::Housekeeper;
use super::identity::Identity;
use super::junction::is_root_of_another;
use super::local_watch::LocalWatch;
use super::lookup::{NamedNodes, read_target};
use super::name_changes::NameChanger;
use super::node_changes::NodeChanges;
use super::open_error::OpenError;
use super::open_files::OpenFiles;
use super::open_nodes::OpenNodes;
use super::options::{Mode, Options, SyncMode};
use super::outside::drop_moved_out;
use super::presence::{PathWatch, Presence};
use super::probe;
use super::read::read_file;
use super::root::Root;
use super::set_attributes::AttributeSetter;
use super::stable_storage::StableStorage;
use super::statistics::{get_limits, get_statistics};
use super::stream::Streams;
use super::verifier::Verifier;
use super::write::FileWriter;
use super::xattrs::NodeXattrs;
use crate::limits::LOCKED_FILES;

/// A directory as a file system.
pub struct LocalFileSystem {
    mode: Mode,
    nodes: Arc<OpenNodes>,
    names: Arc<NamedNodes>,
    files: Arc<DataFiles>,
    setter: Arc<AttributeSetter>,
    writer: FileWriter,
    maker: NodeMaker,
    name_changer: NameChanger,
    lister: DirectoryLister,
    xattrs: NodeXattrs,
    /// Whether ranges of its files can be cloned.
    clones: bool,
    locks: ClientLocks,
    local_changes: LocalWatch,
    watch: Arc<PathWatch>,
    _housekeeper: Housekeeper,
}

impl LocalFileSystem {
    /// Opens a directory.
    ///
    /// Sets the umask of the process to 0 if it may act as its callers, for then modes are what callers ask for.
    /// A thread that makes a call keeps that caller's file system ids and groups afterwards, until its next call;
    /// a thread that makes calls should open no files for other purposes.
    pub fn open(directory: &Path, options: Options) -> std::result::Result<Self, OpenError> {
        Self::at(Root::open(directory, options.cross_mounts)?, options)
    }

    /// The same with a directory that was opened already, which decides whether mounts are crossed. What works there is found out by
    /// trying, once.
    pub fn at(root: Root, options: Options) -> std::result::Result<Self, OpenError> {
        let identity = Identity::probe();
        if let Some(state) = &options.state {
            make_private_directory(state)?;
        }
        if identity.acts_as_caller() {
            rustix::process::umask(rustix::fs::Mode::empty());
        }
        let acts_as_caller = identity.acts_as_caller();
        let mode = Mode { handles: root.handles(), fall_back: root.fall_back(), acts_as_caller };
        let tree = Arc::clone(root.tree());
        let keeps_verifier = options.keeps_verifier && !tree.is_fuse();
        let verifier = Arc::new(Verifier::open(options.state.as_deref().filter(|_| keeps_verifier))?);
        let cache = Arc::new(NodeCache::new(OpenFiles::share(options.open_files), Arc::clone(&verifier)));
        let nodes = Arc::new(OpenNodes::open(&root, identity, &cache, &options)?);
        let streams = Arc::new(Streams::default());
        let watch = Arc::new(PathWatch::new(root.directory()));
        let housekeeper = start_housekeeper(&root, &cache, &streams, &watch)?;

        let names = Arc::new(NamedNodes::new(Arc::clone(&nodes)));
        let both = || (Arc::clone(&nodes), Arc::clone(&names));
        let overrides = options.overrides_own_modes;
        let files = Arc::new(DataFiles::new(Arc::clone(&nodes), overrides));
        let data = || (Arc::clone(&nodes), Arc::clone(&files));
        let syncs = options.sync == SyncMode::Sync && tree.is_durable();
        let storage = Arc::new(StableStorage::new(syncs, data(), verifier));
        let changed = (Arc::clone(&storage), Arc::clone(&streams));
        let changes = Arc::new(NodeChanges::new(Arc::clone(&nodes), changed));
        let durably = || (Arc::clone(&changes), Arc::clone(&storage));
        let verifiers = Arc::new(Verifiers::default());
        let setter = Arc::new(AttributeSetter::new(data(), durably(), Arc::clone(&verifiers)));
        // A server that acts as itself for all callers would promise what does not hold. A user's own program acts as its caller.
        let acls_hold = acts_as_caller || !overrides;
        Ok(Self {
            mode,
            writer: FileWriter::new(data(), durably()),
            maker: NodeMaker::new(both(), durably(), (Arc::clone(&setter), verifiers)),
            setter,
            name_changer: NameChanger::new(both(), durably()),
            lister: DirectoryLister::new(both(), Arc::clone(&files), streams),
            xattrs: NodeXattrs::new(Arc::clone(&nodes), durably(), acls_hold),
            clones: probe::clones(&tree),
            locks: ClientLocks::new(Arc::clone(&nodes), OpenFiles::for_locks(LOCKED_FILES)),
            local_changes: LocalWatch::new(Arc::clone(&nodes)),
            watch,
            _housekeeper: housekeeper,
            nodes,
            names,
            files,
        })
    }

    /// How it was opened, to be told at start.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Where the path that was opened leads now. It is looked at once a second.
    pub fn presence(&self) -> Presence {
        self.watch.last()
    }

    /// Why changes by other programs of this host are not noticed, if they are not.
    pub fn local_changes_obstacle(&self) -> Option<&'static str> {
        self.local_changes.obstacle()
    }
}

/// For tests of the parts.
#[cfg(test)]
impl LocalFileSystem {
    pub(super) fn nodes(&self) -> &Arc<OpenNodes> {
        &self.nodes
    }

    pub(super) fn names(&self) -> &NamedNodes {
        &self.names
    }

    pub(super) fn files(&self) -> &Arc<DataFiles> {
        &self.files
    }

    pub(super) fn maker(&self) -> &NodeMaker {
        &self.maker
    }

    pub(super) fn locks(&self) -> &ClientLocks {
        &self.locks
    }
}

/// Makes the state directory, for the server alone, if it is not there.
fn make_private_directory(state: &Path) -> std::result::Result<(), OpenError> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(state);
    made.map_err(|cause| OpenError::new("making the state directory", state, cause))
}

fn start_housekeeper(
    root: &Root,
    cache: &Arc<NodeCache>,
    streams: &Arc<Streams>,
    watch: &Arc<PathWatch>,
) -> std::result::Result<Housekeeper, OpenError> {
    let (tree, mounts) = (Arc::clone(root.tree()), root.maker().mounts.clone());
    let (cache, streams, watch) = (Arc::clone(cache), Arc::clone(streams), Arc::clone(watch));
    let mut turn = 0;
    let started = Housekeeper::start(move || {
        if let Some(mounts) = &mounts {
            mounts.tick();
        }
        tree.look_at_mount();
        watch.look(tree.root());
        cache.tick();
        turn += 1;
        drop_moved_out(&tree, &cache, mounts.as_deref(), turn);
        streams.tick();
    });
    started.map_err(|cause| OpenError::new("starting the housekeeper of", root.directory(), cause))
}

impl FileSystem for LocalFileSystem {
    fn root(&self) -> Handle {
        self.nodes.root().handle
    }

    fn ranges(&self) -> Option<&dyn RangeOperations> {
        Some(&self.writer)
    }

    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        self.xattrs.of_users()
    }

    fn acls(&self) -> Option<&dyn PosixAcls> {
        self.xattrs.acls()
    }

    fn let_go(&self) {
        self.nodes.cache().let_go();
    }

    fn keep_open(&self, file: &Handle) -> Option<KeptOpen> {
        self.nodes.keep_open(file)
    }

    fn is_junction(&self, directory: &Handle) -> bool {
        is_root_of_another(&self.nodes, self.nodes.tree(), directory)
    }

    fn has_default_acl(&self, directory: &Handle) -> bool {
        self.xattrs.has_default_acl(directory)
    }

    fn local_changes(&self) -> Option<&dyn LocalChanges> {
        self.local_changes_obstacle().is_none().then_some(&self.local_changes)
    }

    fn quotas(&self) -> Option<&dyn Quotas> {
        self.mode.acts_as_caller.then_some(&*self.nodes)
    }

    fn host_locks(&self) -> Option<&dyn HostLocks> {
        self.locks.are_local().then_some(&self.locks)
    }

    /// GETATTR: one `fstat` once the node is open, and no allocation.
    fn attributes(&self, _caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.nodes.stat(&*self.nodes.node(node)?)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.setter.set_attributes(caller, set, change)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.names.look_up(caller, directory, name)
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        self.names.look_up_parent(caller, directory)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        check_access(&self.nodes, self.nodes.identity(), caller, (node, wanted))
    }

    fn read_link(&self, _caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        read_target(&self.nodes, node, target)
    }

    fn read(&self, caller: &Caller, range: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        read_file(&self.files, caller, range, buffer)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.writer.write_file(caller, write, change)
    }

    fn create(&self, caller: &Caller, new: CreateFile<'_>, change: &mut Change) -> Result<Named> {
        self.maker.create_file(caller, new, change)
    }

    fn make_directory(&self, caller: &Caller, new: MakeDirectory<'_>, change: &mut Change) -> Result<Named> {
        self.maker.create_directory(caller, new, change)
    }

    fn make_link(&self, caller: &Caller, new: MakeLink<'_>, change: &mut Change) -> Result<Named> {
        self.maker.create_link(caller, new, change)
    }

    fn make_special(&self, caller: &Caller, new: MakeSpecial<'_>, change: &mut Change) -> Result<Named> {
        self.maker.create_special(caller, new, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.name_changer.remove(caller, (directory, name), AtFlags::empty(), change)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.name_changer.remove(caller, (directory, name), AtFlags::REMOVEDIR, change)
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.name_changer.rename(caller, from, to, changes)
    }

    fn link(&self, caller: &Caller, new: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.name_changer.link(caller, new, change)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.lister.list(caller, list, sink)
    }

    fn statistics(&self, _caller: &Caller, node: &Handle) -> Result<Statistics> {
        get_statistics(&self.nodes, node)
    }

    fn limits(&self, _caller: &Caller, node: &Handle) -> Result<Limits> {
        get_limits(&self.nodes, node, self.nodes.tree(), self.clones)
    }

    fn commit(&self, caller: &Caller, file: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.writer.commit_file(caller, file, change)
    }
}
