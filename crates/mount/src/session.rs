//! A mount from its beginning to its end.

use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use howdah_threads::{AtEnd, Threads};
use howdah_vfs::{Consistency, FileSystem};

use crate::belief::Belief;
use crate::lately_told::LatelyTold;
use crate::limits::{CALLS_AT_ONCE_MAX, SETTERS_MAX};
use crate::locks::{KernelLocks, start_waits};
use crate::losses::forget_losses;
use crate::nodes::Nodes;
use crate::opens::Opens;
use crate::shared::Shared;
use crate::silly_names::SillyNames;
use crate::skin::Skin;
use crate::traffic::{Counters, Traffic};
use crate::who::Callers;
use crate::{FuseError, MountOptions};

/// Threads that read requests, which the crew then runs.
const READERS: usize = 2;
/// What `mount` shows as the type, behind `fuse.`.
const SUBTYPE: &str = "subtype=howdah";
/// What the kernel may ask for at once.
const READ_MAX: &str = "max_read=1048576";

/// A file system that is mounted. Dropping it takes the mount away.
pub struct FuseMount {
    directory: PathBuf,
    shared: Arc<Shared>,
    /// Hears when the kernel let go of it.
    end: Receiver<()>,
    has_ended: bool,
    /// fuser 0.18 takes one that has ended for mounted (`is_mounted` reads POLLERR the wrong way round), and dropping it would
    /// unmount whatever is mounted at the place by then.
    _session: ManuallyDrop<BackgroundSession>,
}

/// A file whose data could not be made durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unflushed {
    /// Its number, as `ls -i` shows it.
    pub file: u64,
    /// Why.
    pub why: String,
}

/// Mounts a file system on a directory. It is there when this returns.
///
/// # Errors
/// The directory, `/dev/fuse`, or rights: each says what to do.
pub fn mount(
    file_system: Arc<dyn FileSystem>,
    consistency: Arc<dyn Consistency>,
    directory: &Path,
    options: &MountOptions,
) -> Result<FuseMount, FuseError> {
    let has_locks = !options.local_locks && file_system.file_locks().is_some();
    let names = if options.allow_other { Duration::ZERO } else { options.names };
    let can_lose = file_system.directory_delegations().is_some() && !names.is_zero();
    let shared = Arc::new(Shared {
        nodes: Nodes::new(options.root.unwrap_or_else(|| file_system.root())),
        file_system,
        consistency,
        files: Opens::default(),
        directories: Opens::default(),
        callers: Callers::new(options.caller.clone()),
        flight: Arc::default(),
        silly: SillyNames::new(),
        counters: Counters::default(),
        attributes: options.attributes,
        setters: Threads::new("mount-set", SETTERS_MAX, AtEnd::RunJobs),
        synchronous: options.synchronous,
        shows_acls: options.acls,
        belief: Belief::new(options.alone, !options.allow_other),
        locks: Arc::new(KernelLocks::new(has_locks)),
        names,
        lately: can_lose.then(|| LatelyTold::new(names)),
    });
    let (ended, end) = channel();
    let skin = Skin {
        shared: Arc::clone(&shared),
        crew: Threads::new("mount", CALLS_AT_ONCE_MAX, AtEnd::RunJobs),
        ended,
    };
    let session = Session::new(skin, directory, &config(options))
        .and_then(Session::spawn)
        .map_err(|cause| explained(directory, cause))?;
    forget_losses(&shared, session.notifier());
    if has_locks {
        shared.locks.set_notifier(session.notifier());
        let locks = Arc::downgrade(&shared.locks);
        shared.file_system.watch_locks(Arc::new(move |owner| {
            if let Some(locks) = locks.upgrade() {
                locks.freed(owner);
            }
        }));
        let weak = Arc::downgrade(&shared);
        start_waits(&shared.locks, move |wish, file, request, since| {
            if let Some(shared) = weak.upgrade() {
                shared.lock_waiting(wish, file, request, since);
            }
        });
    }
    let watched = Arc::clone(&shared);
    if let Err(error) =
        thread::Builder::new().name("mount-watch".into()).spawn(move || watched.flight.watch())
    {
        tracing::warn!(%error, "no thread looks after interrupted calls");
    }
    let _session = ManuallyDrop::new(session);
    Ok(FuseMount { directory: directory.to_owned(), shared, end, has_ended: false, _session })
}

fn config(options: &MountOptions) -> Config {
    let mut config = Config::default();
    let flag = |is_set, yes, no| if is_set { yes } else { no };
    config.mount_options = vec![
        MountOption::FSName(options.source.clone()),
        MountOption::CUSTOM(SUBTYPE.to_owned()),
        MountOption::CUSTOM(READ_MAX.to_owned()),
        flag(options.read_only, MountOption::RO, MountOption::RW),
        flag(options.set_id, MountOption::Suid, MountOption::NoSuid),
        flag(options.devices, MountOption::Dev, MountOption::NoDev),
        flag(options.executable, MountOption::Exec, MountOption::NoExec),
    ];
    config.acl = if options.allow_other { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(READERS);
    config
}

fn explained(directory: &Path, cause: io::Error) -> FuseError {
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse");
    match device {
        Err(error) => FuseError::Device(error),
        Ok(_) => {
            let is_root = rustix::process::geteuid().is_root();
            FuseError::Refused { directory: directory.to_owned(), cause, is_root }
        }
    }
}

impl FuseMount {
    /// What passed through it.
    pub fn traffic(&self) -> impl Fn() -> Traffic + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.counters.now()
    }

    /// Makes all data durable that was written to it, and says of which files it could not.
    pub fn flush(&self) -> impl Fn() -> Vec<Unflushed> + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move || {
            let nodes = shared.nodes.unstable();
            let flushed = nodes.iter().filter_map(|node| {
                let error = shared.make_durable(node).err()?;
                let why = io::Error::from_raw_os_error(error.0.code()).to_string();
                Some(Unflushed { file: node.number, why })
            });
            flushed.collect()
        }
    }

    /// Ends the belief that nobody else changes the tree: the kernel forgets what it believes. For a thread that answers no requests.
    pub fn distrust(&self) -> impl Fn() + Send + Sync + use<> {
        let (shared, notifier) = (Arc::clone(&self.shared), self._session.notifier());
        move || shared.belief.end(&notifier, &shared.nodes.numbers())
    }

    /// How many files are open.
    pub fn open_files(&self) -> impl Fn() -> usize + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.open_files()
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Waits until it was unmounted.
    pub fn wait(mut self) {
        // Without a sender it has ended, too.
        let _ = self.end.recv();
        self.has_ended = true;
    }

    /// Unmounts it and waits for that.
    ///
    /// # Errors
    /// It is in use.
    pub fn unmount(self) -> io::Result<()> {
        crate::unmount(&self.directory, false)?;
        self.wait();
        Ok(())
    }
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        self.shared.flight.stop();
        self.shared.locks.stop();
        if !self.has_ended
            && let Err(error) = crate::unmount(&self.directory, true)
        {
            tracing::warn!(%error, "unmounting {}", self.directory.display());
        }
    }
}
