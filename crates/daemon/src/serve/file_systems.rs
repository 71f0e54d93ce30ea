//! The file systems behind the exports, opened once each and kept over a reload, with the files they hold open. Directories are
//! followed: one that is removed or moved away is gone until its path leads to a directory again. So are those of other servers.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use howdah_client::Remote;
use howdah_client::channel::{ChannelOptions, Patience};
use howdah_client::connect::{ConnectOptions, HandleFileUse};
use howdah_client::url::{NfsUrl, Security};
use howdah_config::{Durability, ExportConfig, ExportLocks, Source};
use howdah_layers::{Cached, CachingOptions};
use howdah_server::uplink::Uplink;
use howdah_store::DurableHandleBook;
use howdah_store::local::{
    HandleSource, LocalFileSystem, Mode, OpenError, Options, Presence, Root, SyncMode,
};
use howdah_vfs::layer::{ShortHandles, Withdrawn};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, FileSystem, Handle, Shown, Timestamp};
use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::opened::{Handles, OpenedExport};
use super::uplink::FarSide;
use crate::host::{export_state, handle_key, is_full_or_read_only};
use crate::places::{SystemTickets, cached_at, connect_to, expected};

/// Writes to a relay that wait for their data to be durable: what a path of 100 MB and a batch of a COMMIT hold, and half of the calls
/// that may wait for a far server, so that others of its clients are not held up.
const WAITING_ANSWERS: usize = 128;

/// How long calls wait for a far server that sends nothing. After that they are answered with NFS3ERR_JUKEBOX, and clients retry. It is
/// shorter than the patience of any client (macOS gives up after 60 s, as Linux complains), and longer than a lost path takes to be
/// found (3 s).
const FAR_PATIENCE: Duration = Duration::from_secs(10);

/// Where an export keeps the long handles of an NFSv4 server, in its part of the state directory.
const HANDLE_FILE: &str = "nfs4-handles";

/// How long a reload waits for far servers that are new. Meanwhile the server's other housekeeping waits, and the service manager for a
/// sign of life.
const FAR_AT_RELOAD: Duration = Duration::from_secs(3);

/// The open file system of an export.
#[derive(Clone)]
pub struct OpenFileSystem {
    id: u32,
    served: Served,
    /// How it turned out.
    pub opened: OpenedExport,
    /// The file system that the root of another server's export lives on.
    pub root_file_system: Option<u64>,
    /// Why it cannot be mounted now.
    pub gone: Option<String>,
    /// Why changes by other programs of this host are not noticed, if they are not.
    pub unnoticed: Option<&'static str>,
    /// The caches before another server.
    cached: Option<Arc<Cached>>,
    /// The way to it.
    pub uplink: Option<Arc<dyn Uplink>>,
    /// Its client.
    client: Option<Arc<dyn Remote>>,
}

/// What an export's handles lead to.
#[derive(Clone)]
enum Served {
    /// Memory, or another server.
    Other(Arc<dyn FileSystem>),
    /// The directory that was opened.
    Directory(Arc<LocalFileSystem>),
    /// Nothing: another directory is to be opened once the calls on this one have ended.
    Nothing(Weak<dyn FileSystem>),
    /// Nothing yet: another server's directory is being mounted again.
    Opening(Slot),
}

/// Where a thread puts what it opened.
type Slot = Arc<Mutex<Option<Result<OpenFileSystem>>>>;

/// What became of the directory of an export.
#[derive(Debug)]
pub struct DirectoryNews {
    name: String,
    path: String,
    gone: Option<String>,
}

impl DirectoryNews {
    /// Says it in the log: once it holds.
    pub fn log(&self) {
        match &self.gone {
            Some(why) => tracing::warn!(export = self.name, "the export is gone: {why}"),
            None => tracing::info!(export = self.name, path = self.path, "the export is back"),
        }
    }
}

/// An export of another server that is being opened by a thread of its own.
struct Opening {
    slot: Slot,
    done: Receiver<()>,
}

impl Opening {
    fn start(export: &ExportConfig, state: &Path) -> Self {
        let (slot, (tell, done)) = (Slot::default(), channel());
        let (its, export, state) = (Arc::clone(&slot), export.clone(), state.to_owned());
        thread::spawn(move || {
            *its.lock() = Some(open(&export, None, &state));
            // Nobody hears it who did not wait so long.
            let _ = tell.send(());
        });
        Self { slot, done }
    }

    /// What was opened until then; else the export as one whose server does not answer yet.
    fn opened_until(&self, until: Instant, export: &ExportConfig) -> Result<OpenFileSystem> {
        let _ = self.done.recv_timeout(until.saturating_duration_since(Instant::now()));
        if let Some(opened) = self.slot.lock().take() {
            return opened;
        }
        tracing::warn!(export = %export.name, "{} does not answer: the export is served once it does", export.source);
        Ok(OpenFileSystem {
            id: export.id,
            served: Served::Opening(Arc::clone(&self.slot)),
            opened: OpenedExport::elsewhere(Handles::Server),
            root_file_system: None,
            gone: Some(format!("{} does not answer yet", export.source)),
            unnoticed: None,
            cached: None,
            uplink: None,
            client: None,
        })
    }
}

/// An export of another server.
struct Far {
    file_system: Arc<dyn FileSystem>,
    client: Arc<dyn Remote>,
    cached: Option<Arc<Cached>>,
    uplink: Arc<dyn Uplink>,
}

/// All open file systems, in the order of the exports.
#[derive(Clone, Default)]
pub struct FileSystems {
    open: Vec<OpenFileSystem>,
}

impl FileSystems {
    /// The file systems of these exports, whose directories are open already.
    pub fn over(roots: Vec<Option<Root>>, exports: &[ExportConfig], state: &Path) -> Result<Self> {
        let open = exports.iter().zip(roots).map(|(export, root)| open(export, root, state));
        Ok(Self { open: open.collect::<Result<_>>()? })
    }

    /// The file systems of these exports: those that are open already stay open, the others are opened now. A far server that does not
    /// answer soon keeps nobody waiting: its export is there, and served once it answers.
    pub fn for_exports(&self, exports: &[ExportConfig], state: &Path) -> Result<Self> {
        let is_far = |export: &&ExportConfig| matches!(export.source, Source::Server(_));
        let new: Vec<_> = exports.iter().filter(|export| self.find(export).is_none()).collect();
        let far: HashMap<u32, Opening> = new
            .iter()
            .copied()
            .filter(is_far)
            .map(|export| (export.id, Opening::start(export, state)))
            .collect();
        let until = Instant::now() + FAR_AT_RELOAD;
        let open = exports.iter().map(|export| match (self.find(export), far.get(&export.id)) {
            (Some(open), _) => Ok(open.clone()),
            (None, Some(opening)) => opening.opened_until(until, export),
            (None, None) => open(export, root(export)?, state),
        });
        Ok(Self { open: open.collect::<Result<_>>()? })
    }

    /// The first of these exports whose directory is not open yet.
    pub fn first_new<'e>(&self, exports: &'e [ExportConfig]) -> Option<&'e ExportConfig> {
        exports.iter().find(|export| export.source.directory().is_some() && self.find(export).is_none())
    }

    /// The open file systems, in the order of the exports.
    pub fn iter(&self) -> impl Iterator<Item = &OpenFileSystem> {
        self.open.iter()
    }

    /// Looks where the paths of these exports lead now, and opens directories that took the place of others unless files are
    /// confined. Says what changed; then the exports must be put together again.
    pub fn follow(
        &mut self,
        exports: &[ExportConfig],
        state: &Path,
        files_confined: bool,
    ) -> Vec<DirectoryNews> {
        let both = self.open.iter_mut().zip(exports);
        let news = both.filter_map(|(directory, export)| {
            directory.follow(export, state, files_confined).then(|| DirectoryNews {
                name: export.name.to_string(),
                path: export.source.to_string(),
                gone: directory.gone.clone(),
            })
        });
        news.collect()
    }

    /// Makes safe on other servers what clients wrote and did not commit, for so long at most. Says whether all of it is.
    pub fn flush(&self, patience: Duration) -> bool {
        let cached: Vec<Arc<Cached>> = self.open.iter().filter_map(|open| open.cached.clone()).collect();
        cached.iter().for_each(|cached| cached.settle());
        if cached.iter().all(|cached| cached.report().writing.held == 0) {
            return true;
        }
        let (done, is_done) = channel();
        thread::spawn(move || {
            // Each on its own: one server that is away must not keep the data of another from it.
            let flushing: Vec<_> =
                cached.into_iter().map(|cached| thread::spawn(move || cached.flush_all().is_ok())).collect();
            let safe: Vec<bool> =
                flushing.into_iter().map(|flushing| flushing.join().unwrap_or(false)).collect();
            // Nobody hears it after the patience.
            let _ = done.send(safe.into_iter().all(|safe| safe));
        });
        is_done.recv_timeout(patience).unwrap_or(false)
    }

    /// Lets go of them. What is held for another server is written first, which takes as long as that server is away: nobody waits.
    pub fn let_go(self) {
        if self.open.iter().any(|open| open.cached.is_some()) {
            thread::spawn(move || drop(self));
        }
    }

    /// What else makes a file system another one does not change under an id while it is served.
    fn find(&self, export: &ExportConfig) -> Option<&OpenFileSystem> {
        self.open.iter().find(|directory| directory.id == export.id)
    }
}

impl OpenFileSystem {
    /// As what it is served.
    pub fn file_system(&self) -> Arc<dyn FileSystem> {
        match &self.served {
            Served::Other(file_system) => Arc::clone(file_system),
            Served::Directory(directory) => Arc::clone(directory) as Arc<dyn FileSystem>,
            Served::Nothing(_) | Served::Opening(_) => Arc::new(Withdrawn::default()),
        }
    }

    fn follow(&mut self, export: &ExportConfig, state: &Path, files_confined: bool) -> bool {
        let path = &export.source;
        match &self.served {
            Served::Other(file_system) => {
                let Some(_lost) = self.client.take_if(|client| client.has_lost_root()) else { return false };
                // What is held for it is written first: files may be there though the root is not.
                if let Some(cached) = self.cached.take() {
                    thread::spawn(move || cached.flush_all());
                }
                self.uplink = None;
                self.served = Served::Nothing(Arc::downgrade(file_system));
                self.set_gone(Some(format!("{path} is another directory now, which is being mounted")))
            }
            Served::Directory(directory) => match directory.presence() {
                Presence::Present => self.set_gone(None),
                Presence::Missing => self.set_gone(Some(format!("there is no directory {path}"))),
                Presence::Covered => {
                    let why = format!("another file system is mounted at {path}; restart howdah to serve it");
                    self.set_gone(Some(why))
                }
                Presence::Replaced if files_confined => {
                    let why = format!(
                        "{path} is another directory now; restart howdah to serve it, or start it with --sandbox no-landlock"
                    );
                    self.set_gone(Some(why))
                }
                Presence::Replaced => {
                    // The old one goes first: two cannot share the state directory.
                    let directory: Arc<dyn FileSystem> = Arc::clone(directory) as _;
                    self.served = Served::Nothing(Arc::downgrade(&directory));
                    let why = format!("{path} is another directory now, which is being opened");
                    self.set_gone(Some(why))
                }
            },
            Served::Nothing(old) if old.strong_count() > 0 => false,
            Served::Nothing(_) if matches!(path, Source::Server(_)) => {
                // That server may be away: nobody waits for it here.
                self.served = Served::Opening(Opening::start(export, state).slot);
                false
            }
            Served::Nothing(_) => {
                let opened = root(export).and_then(|root| open(export, root, state));
                self.take(opened)
            }
            Served::Opening(slot) => {
                let Some(opened) = slot.lock().take() else { return false };
                self.take(opened)
            }
        }
    }

    /// Serves what was opened, or says why there is nothing, and tries again later; whether that is news.
    fn take(&mut self, opened: Result<Self>) -> bool {
        match opened {
            Ok(new) => {
                let gone = self.gone.take();
                *self = Self { gone, ..new };
                self.set_gone(None)
            }
            Err(error) => {
                self.served = Served::Nothing(Weak::<Withdrawn>::new());
                self.set_gone(Some(format!("{error:#}")))
            }
        }
    }

    /// Notes why the export cannot be mounted; whether that is news.
    fn set_gone(&mut self, gone: Option<String>) -> bool {
        if self.gone == gone {
            return false;
        }
        self.gone = gone;
        true
    }
}

/// Opens the directory of an export, if it serves one.
pub fn root(export: &ExportConfig) -> Result<Option<Root>> {
    let open = |path| Root::open(path, export.cross_mounts).map_err(|error| explained(export, &error));
    export.source.directory().map(open).transpose()
}

/// It tells its cause itself.
fn explained(export: &ExportConfig, error: &OpenError) -> anyhow::Error {
    let advice = match error.cause().raw_os_error() {
        Some(code) if code == Errno::MFILE.raw_os_error() => OPEN_FILES_ADVICE,
        _ => "",
    };
    anyhow!("opening export {}: {error}{advice}", export.name)
}

/// What to do where a process may open no more files.
const OPEN_FILES_ADVICE: &str =
    "; each export keeps some files open: raise the limit (ulimit -n, or LimitNOFILE= in the unit)";

fn open(export: &ExportConfig, root: Option<Root>, state: &Path) -> Result<OpenFileSystem> {
    let (mut root_file_system, mut cached, mut uplink, mut far) = (None, None, None, None);
    let mut unnoticed = None;
    let (served, opened) = match (&export.source, root) {
        (Source::Directory(_), Some(root)) => {
            let file_system = directory(export, root, state)?;
            unnoticed = file_system.local_changes_obstacle();
            let Mode { handles, fall_back, acts_as_caller } = file_system.mode();
            let handles = match (handles, fall_back) {
                (HandleSource::Kernel, _) => Handles::Kernel,
                (HandleSource::Index, None) => Handles::Index,
                (HandleSource::Index, Some(why)) => Handles::FileNumbers(why),
            };
            let opened =
                OpenedExport { handles, acts_as_caller, guards_host: acts_as_caller, guards_far: false };
            (Served::Directory(Arc::new(file_system)), opened)
        }
        (Source::Directory(path), None) => {
            bail!("opening export {}: {} is not open", export.name, path.display())
        }
        (Source::Memory(bytes), _) => {
            (Served::Other(memory(*bytes)), OpenedExport::elsewhere(Handles::Memory))
        }
        (Source::Server(url), _) => {
            let Far { file_system: server, client, cached: caches, uplink: way } =
                server(export, url, state).with_context(|| format!("opening export {}", export.name))?;
            (cached, uplink, far) = (caches, Some(way), Some(client));
            // Asked once, while it is known to answer.
            root_file_system =
                server.attributes(&Caller::ROOT, &server.root()).ok().map(|root| root.file_system);
            (Served::Other(server), OpenedExport::elsewhere(Handles::Server))
        }
    };
    let (id, client) = (export.id, far);
    let gone = None;
    Ok(OpenFileSystem { id, served, opened, root_file_system, gone, unnoticed, cached, uplink, client })
}

fn directory(export: &ExportConfig, root: Root, state: &Path) -> Result<LocalFileSystem> {
    let kept = match export_state(state, export.id) {
        // It lives without: clients write some data once more after a restart, and moved files are searched for.
        Err(error) if is_full_or_read_only(&error) => {
            tracing::debug!(export = %export.name, "nothing is kept of it: {error:#}");
            None
        }
        made => Some(made?),
    };
    let options = Options {
        state: kept,
        cross_mounts: export.cross_mounts,
        keeps_verifier: !export.shared,
        sync: match export.durability {
            Durability::Sync => SyncMode::Sync,
            Durability::Async => SyncMode::Async,
        },
        ..Options::default()
    };
    LocalFileSystem::at(root, options).map_err(|error| explained(export, &error))
}

fn memory(bytes: u64) -> Arc<dyn FileSystem> {
    let options = MemoryOptions {
        clock: Arc::new(time_of_day),
        budget: Some(bytes),
        // The root directory belongs to root, and clients are seldom root. So everybody may write, as in /tmp.
        root_mode: 0o1777,
        ..MemoryOptions::default()
    };
    Arc::new(MemoryFileSystem::with_options(options))
}

fn time_of_day() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: now.as_secs() as i64, nanoseconds: now.subsec_nanos() }
}

/// An export of another server: calls are passed on as their callers. Handles that leave no room for ours beside them are kept.
fn server(export: &ExportConfig, url: &NfsUrl, state: &Path) -> Result<Far> {
    let patience = url.options.gives_up_after().unwrap_or(FAR_PATIENCE);
    let channel = ChannelOptions { patience: Patience::WhileHeard(patience), ..ChannelOptions::default() };
    let state = export_state(state, export.id)?;
    let handle_file = Some(HandleFileUse { path: state.join(HANDLE_FILE), at_once: false });
    let mut options = ConnectOptions { channel, handle_file, ..ConnectOptions::default() };
    if let Security::Kerberos(_) = url.options.security {
        // Calls of clients come by their words alone: the far server has to do with this host's own principal.
        let tickets = SystemTickets::kept().with_context(|| format!("preparing Kerberos for {url}"))?;
        options.tickets = Some(Arc::new(tickets));
        options.ticket_user = Some(geteuid().as_raw());
    }
    let client = connect_to(url, &options)?;
    if let [first, ..] = client.below_root() {
        bail!(
            "the server of {url} exports no directory {}; howdah ls and showmount -e list what it exports",
            Shown(first)
        );
    }
    if export.locks == ExportLocks::Local {
        tracing::warn!(
            export = %export.name,
            "locks apply only among clients of this server: {url} and its direct users do not see them; to refuse locks, set locks = \"refuse\" (--locks refuse)"
        );
    }
    let (sizes, expected) = (client.sizes(), expected(&*client));
    let connected = Arc::clone(&client);
    let client: Arc<dyn FileSystem> = client;
    let cached = export.caching.map(|options| {
        let (read_size, write_size) = (sizes.read as usize, sizes.write as usize);
        let options = CachingOptions {
            read_size,
            write_size,
            expected,
            waiting_answers: WAITING_ANSWERS,
            patience: Some(patience),
            ..options
        };
        cached_at(url, Arc::clone(&client), options, export.disk_cache.as_ref())
    });
    let (cached, disk) = cached.map_or((None, None), |(cached, disk)| (Some(cached), disk));
    let side = FarSide { url: url.to_string(), client: Arc::clone(&connected), cached: cached.clone(), disk };
    let far = cached.clone().map_or(client, |cached| cached);
    let book = DurableHandleBook::open(&state)?;
    let key = handle_key(&state)?;
    let key = *key.first_chunk().context("the handle key is too short")?;
    let short = ShortHandles::around(far, book, key, Handle::EXPORTABLE_MAX)
        .map_err(|error| anyhow!("keeping the handle of {url}: {error}"))?;
    Ok(Far { file_system: Arc::new(short), client: connected, cached, uplink: Arc::new(side) })
}
