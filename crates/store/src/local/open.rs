//! Opening a directory as a file system: what works here is found out by trying, once.

use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use howdah_vfs::Handle;
use rustix::fs::OFlags;

use super::cache::NodeCache;
use super::change_locks::ChangeLocks;
use super::change_times::ChangeTimes;
use super::exclusive::Verifiers;
use super::file_system::LocalFileSystem;
use super::handles::{Finder, Maker};
use super::held_files::HeldFiles;
use super::housekeeper::Housekeeper;
use super::identify::identify;
use super::identity::Identity;
use super::known::KnownHandles;
use super::local_watch::LocalWatch;
use super::locked_files::LockedFiles;
use super::open_error::OpenError;
use super::open_files::OpenFiles;
use super::options::{HandleSource, Mode, Options, SyncMode};
use super::outside::drop_moved_out;
use super::presence::{PathWatch, Presence};
use super::probe;
use super::reserve::Reserve;
use super::root::Root;
use super::stream::Streams;
use super::tree::{LOOK, Tree};
use super::unnamed::Unnamed;
use super::verifier::Verifier;
use crate::limits::{CHANGE_COUNTS, LOCKED_FILES};

impl LocalFileSystem {
    /// Opens a directory.
    ///
    /// Sets the umask of the process to 0 if it may act as its callers, for then modes are what callers ask for.
    /// A thread that makes a call keeps that caller's file system ids and groups afterwards, until its next call;
    /// a thread that makes calls should open no files for other purposes.
    pub fn open(directory: &Path, options: Options) -> Result<Self, OpenError> {
        Self::at(Root::open(directory, options.cross_mounts)?, options)
    }

    /// The same with a directory that was opened already, which decides whether mounts are crossed.
    pub fn at(root: Root, options: Options) -> Result<Self, OpenError> {
        let Root { tree, maker, handles, fall_back, directory } = root;
        let directory = directory.as_path();
        let failed = |step| move |cause: rustix::io::Errno| OpenError::new(step, directory, cause);
        let identity = Identity::probe();
        if let Some(state) = &options.state {
            make_private_directory(state)?;
        }
        if identity.acts_as_caller {
            rustix::process::umask(rustix::fs::Mode::empty());
        }
        let known = KnownHandles::new(if tree.has_honest_births() { options.known_handles } else { 0 });
        let keeps_verifier = options.keeps_verifier && !tree.is_fuse();
        let verifier = options.state.as_deref().filter(|_| keeps_verifier);
        let verifier = Arc::new(Verifier::open(verifier)?);
        let nodes = Arc::new(NodeCache::new(OpenFiles::share(options.open_files), Arc::clone(&verifier)));
        let root = tree.open_name(tree.root.as_fd(), b".", LOOK).map_err(failed("opening"))?;
        let handle = root_handle(&tree, &maker).map_err(|cause| {
            OpenError::new("making a handle for", directory, std::io::Error::other(cause))
        })?;
        let root = nodes.pinned(handle, root);
        if let Ok(identification) = identify(root.descriptor()) {
            root.found(&identification);
        }
        let finder = match handles {
            HandleSource::Kernel => None,
            HandleSource::Index => Some(Finder::open(&tree, &maker, handle, options.state.as_deref())?),
        };
        let streams = Arc::new(Streams::default());
        let (kept_nodes, kept_streams) = (Arc::clone(&nodes), Arc::clone(&streams));
        let kept_tree = Arc::clone(&tree);
        let watch = Arc::new(PathWatch::new(directory));
        let kept_watch = Arc::clone(&watch);
        let kept_mounts = maker.mounts.clone();
        let mut turn = 0;
        let housekeeper = Housekeeper::start(move || {
            if let Some(mounts) = &kept_mounts {
                mounts.tick();
            }
            kept_tree.look_at_mount();
            kept_watch.look(&kept_tree.root);
            kept_nodes.tick();
            turn += 1;
            drop_moved_out(&kept_tree, &kept_nodes, kept_mounts.as_deref(), turn);
            kept_streams.tick();
        })
        .map_err(|cause| OpenError::new("starting the housekeeper of", directory, cause))?;
        let mode = Mode { handles, fall_back, acts_as_caller: identity.acts_as_caller };
        let syncs = options.sync == SyncMode::Sync && tree.is_durable();
        let (has_xattrs, clones) = (probe::has_xattrs(&tree), probe::clones(&tree));
        // A server that acts as itself for all callers would promise what does not hold. A user's own program acts as its caller.
        let acts_right = identity.acts_as_caller || !options.overrides_own_modes;
        let has_acls = acts_right && probe::has_acls(&tree);
        let fine = probe::has_fine_times(&tree).then(|| tree.file_system_of(tree.device));
        let times = ChangeTimes::new(CHANGE_COUNTS, fine, tree.has_own_clock());
        let locked = LockedFiles::new(OpenFiles::for_locks(LOCKED_FILES), tree.kind());
        Ok(Self {
            tree,
            maker,
            mode,
            identity,
            finder,
            held: HeldFiles::new(&nodes),
            nodes,
            known,
            root,
            changes: ChangeLocks::new(),
            times,
            reserve: Reserve::default(),
            streams,
            verifier,
            verifiers: Verifiers::default(),
            locked,
            unnamed: Unnamed::default(),
            syncs,
            overrides_own_modes: options.overrides_own_modes,
            has_xattrs,
            has_acls,
            clones,
            watch,
            local_watch: LocalWatch::default(),
            _housekeeper: housekeeper,
        })
    }
}

/// Makes the state directory, for the server alone, if it is not there.
fn make_private_directory(state: &Path) -> Result<(), OpenError> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(state);
    made.map_err(|cause| OpenError::new("making the state directory", state, cause))
}

fn root_handle(tree: &Tree, maker: &Maker) -> howdah_vfs::Result<Handle> {
    let seen = super::identify::identify(tree.root.as_fd()).map_err(super::errno::refusal)?;
    maker.of_open(tree.root.as_fd(), &seen)
}

impl LocalFileSystem {
    /// How it was opened, to be told at start.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Where the path that was opened leads now. It is looked at once a second.
    pub fn presence(&self) -> Presence {
        self.watch.last()
    }
}

const _: () = assert!(OFlags::PATH.bits() as i32 == libc::O_PATH);
