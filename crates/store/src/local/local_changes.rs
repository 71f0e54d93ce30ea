//! Notices what other programs of this host change, by fanotify(7), while somebody wants to know. The kernel is asked for single nodes,
//! which takes no privilege: a change of any other node costs nothing. It says which process made a change, so that our own are
//! passed over.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use howdah_vfs::{FsError, Handle, LocalChange, LocalChangeObserver, LocalChanges, Result, WatchedNode};
use parking_lot::Mutex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, read, write};
use rustix::process::getpid;

use super::LocalFileSystem;
use super::change_events::{NodeIdentity, events};
use super::errno::refusal;
use super::node::Node;
use super::syscall::{self, KernelHandle};
use super::tree::Tree;
use super::watched_nodes::{WatchedNodes, Watching};
use crate::limits::WATCHED_NODES;

/// What is noticed of a file. Whoever changes it through memory is noticed when it is closed.
const FILE: u64 = libc::FAN_MODIFY
    | libc::FAN_ATTRIB
    | libc::FAN_CLOSE_WRITE
    | libc::FAN_MOVE_SELF
    | libc::FAN_DELETE_SELF
    | libc::FAN_ONDIR;
/// What is noticed of a directory besides its attributes.
const DIRECTORY: u64 = libc::FAN_ATTRIB
    | libc::FAN_CREATE
    | libc::FAN_DELETE
    | libc::FAN_MOVED_FROM
    | libc::FAN_MOVED_TO
    | libc::FAN_DELETE_SELF
    | libc::FAN_ONDIR;
/// And of the files in it.
const CHILDREN: u64 = libc::FAN_EVENT_ON_CHILD | libc::FAN_MODIFY | libc::FAN_CLOSE_WRITE;

/// Bytes of events that are read at a time.
const READ_AT_ONCE: usize = 64 << 10;

/// What listens, while any node is watched.
#[derive(Default)]
pub(super) struct LocalWatch {
    listener: Mutex<Option<Listener>>,
}

/// The thread, which ends when this is dropped.
struct Listener {
    shared: Arc<Shared>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    events: OwnedFd,
    nodes: Mutex<WatchedNodes>,
    observer: Mutex<Arc<dyn LocalChangeObserver>>,
}

impl Listener {
    fn start(observer: Arc<dyn LocalChangeObserver>) -> rustix::io::Result<Self> {
        let nodes = Mutex::new(WatchedNodes::new(WATCHED_NODES));
        let events = syscall::start_change_events()?;
        let shared = Arc::new(Shared { events, nodes, observer: Mutex::new(observer) });
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let (its, its_stop) = (Arc::clone(&shared), Arc::clone(&stop));
        let thread = thread::Builder::new().name("local-changes".to_owned());
        let thread = thread.spawn(move || its.listen(its_stop.as_fd())).map_err(|_| Errno::AGAIN)?;
        Ok(Self { shared, stop, thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = write(&self.stop, &1u64.to_ne_bytes());
        // Perhaps an observer let go of the last file system.
        if let Some(thread) = self.thread.take().filter(|its| its.thread().id() != thread::current().id()) {
            let _ = thread.join();
        }
        let observer = Arc::clone(&self.shared.observer.lock());
        if self.shared.nodes.lock().count() > 0 {
            // Nobody notices what happens from now on.
            observer.on_local_change(LocalChange::Any);
        }
    }
}

impl Shared {
    fn listen(&self, stop: BorrowedFd<'_>) {
        let mut buffer = vec![0; READ_AT_ONCE];
        loop {
            let mut both =
                [PollFd::new(&self.events, PollFlags::IN), PollFd::from_borrowed_fd(stop, PollFlags::IN)];
            match poll(&mut both, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return self.on_failure(error),
            }
            let [events, stop] = both.map(|one| one.revents());
            if !stop.is_empty() {
                return;
            }
            if events.is_empty() {
                continue;
            }
            match read(&self.events, &mut buffer) {
                Ok(length) => self.on_events(&buffer[..length]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return self.on_failure(error),
            }
        }
    }

    /// Nothing is noticed any more: no node counts as watched, and what was watched may have changed.
    fn on_failure(&self, error: Errno) {
        tracing::warn!(%error, "changes by programs of this host are not noticed any more");
        *self.nodes.lock() = WatchedNodes::new(0);
        let observer = Arc::clone(&self.observer.lock());
        observer.on_local_change(LocalChange::Any);
    }

    fn on_events(&self, bytes: &[u8]) {
        let own = getpid().as_raw_nonzero().get();
        let mut changed: Vec<Handle> = Vec::new();
        let mut is_overflow = false;
        for event in events(bytes).filter(|event| event.process != own) {
            is_overflow |= event.is_overflow;
            for identity in event.nodes() {
                changed.extend(self.nodes.lock().find(&identity));
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let observer = Arc::clone(&self.observer.lock());
        match is_overflow {
            true => observer.on_local_change(LocalChange::Any),
            false => changed.into_iter().for_each(|node| observer.on_local_change(LocalChange::Of(node))),
        }
    }

    fn watch(&self, tree: &Tree, node: &Node, has_children: bool) -> Result<()> {
        let handle = syscall::name_to_handle(node.descriptor(), None).map_err(refusal)?;
        let is_directory = FileType::from_raw_mode(fstat(node.descriptor()).map_err(refusal)?.st_mode)
            == FileType::Directory;
        let mask = match (is_directory, has_children) {
            (false, _) => FILE,
            (true, false) => DIRECTORY,
            (true, true) => DIRECTORY | CHILDREN,
        };
        // One after the other: what is known here is what the kernel knows.
        let mut nodes = self.nodes.lock();
        let watched = WatchedNode { node: &node.handle, has_children };
        match nodes.add(watched, || identity(&handle)) {
            Watching::Already => Ok(()),
            Watching::Full => Err(FsError::NoSpace),
            Watching::New => {
                let (at, name) = tree.alias(node.descriptor());
                syscall::watch_changes(self.events.as_fd(), true, mask, at, name.as_c_str()).map_err(
                    |errno| {
                        nodes.remove(&node.handle);
                        refusal(errno)
                    },
                )
            }
        }
    }
}

fn identity(handle: &KernelHandle) -> NodeIdentity {
    NodeIdentity::of(handle.kind, handle.as_bytes())
}

impl LocalFileSystem {
    /// Why changes by other programs of this host are not noticed, if they are not.
    pub fn local_changes_obstacle(&self) -> Option<&'static str> {
        if !self.tree.is_usual() {
            return Some("other hosts may change its file system, or it does not report changes");
        }
        (!can_listen()).then_some("the kernel reports no changes to this process (fanotify, Linux 5.13)")
    }
}

/// Whether the kernel tells this process of changes. It is asked once.
fn can_listen() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| syscall::start_change_events().is_ok())
}

impl LocalChanges for LocalFileSystem {
    fn watch(&self, watched: WatchedNode<'_>, observer: Arc<dyn LocalChangeObserver>) -> Result<()> {
        self.identity.assume_root()?;
        let node = self.node(watched.node)?;
        // Of file systems that are mounted inside, nothing is known.
        if node.device() != Some(self.tree.device) {
            return Err(FsError::NotSupported);
        }
        let mut listener = self.local_watch.listener.lock();
        if let Some(listening) = &*listener {
            *listening.shared.observer.lock() = observer;
        } else {
            *listener = Some(Listener::start(observer).map_err(refusal)?);
        }
        let shared = listener.as_ref().map(|listener| Arc::clone(&listener.shared));
        // Whoever is told takes locks of its own: nobody waits for it here.
        drop(listener);
        self.identity.assume_root()?;
        shared.ok_or(FsError::ServerFault)?.watch(&self.tree, &node, watched.has_children)
    }

    fn is_watched(&self, node: &Handle) -> bool {
        let listener = self.local_watch.listener.lock();
        listener.as_ref().is_some_and(|listener| listener.shared.nodes.lock().has(node))
    }

    fn tidy(&self) {
        let mut listener = self.local_watch.listener.lock();
        let Some(Listener { shared, .. }) = &*listener else { return };
        let observer = Arc::clone(&shared.observer.lock());
        let mut nodes = shared.nodes.lock();
        let old = nodes.take_old();
        let kept = observer.keep_watched(&old);
        for (node, _) in old.iter().zip(kept).filter(|(_, is_kept)| !is_kept) {
            nodes.remove(node);
            // What is gone the kernel has forgotten.
            let Ok(open) = self.identity.assume_root().and_then(|()| self.node(node)) else { continue };
            let (at, name) = self.tree.alias(open.descriptor());
            let all = FILE | DIRECTORY | CHILDREN;
            let _ = syscall::watch_changes(shared.events.as_fd(), false, all, at, name.as_c_str());
        }
        let is_idle = nodes.count() == 0;
        drop(nodes);
        if is_idle {
            let idle = listener.take();
            drop(listener);
            drop(idle);
        }
    }

    fn count(&self) -> usize {
        let listener = self.local_watch.listener.lock();
        listener.as_ref().map_or(0, |listener| listener.shared.nodes.lock().count())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, Name, NewAttributes};

    use super::*;
    use crate::local::Options;

    const PATIENCE: Duration = Duration::from_secs(20);

    struct Told {
        changes: Mutex<Sender<LocalChange>>,
        kept: Mutex<Vec<Handle>>,
    }

    impl LocalChangeObserver for Told {
        fn on_local_change(&self, change: LocalChange) {
            let _ = self.changes.lock().send(change);
        }

        fn keep_watched(&self, nodes: &[Handle]) -> Vec<bool> {
            let kept = self.kept.lock();
            nodes.iter().map(|node| kept.contains(node)).collect()
        }
    }

    struct Watched {
        place: tempfile::TempDir,
        fs: LocalFileSystem,
        told: Arc<Told>,
        changes: Receiver<LocalChange>,
    }

    impl Watched {
        fn new() -> Self {
            let place = tempfile::tempdir().expect("a directory");
            let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
            let (sender, changes) = channel();
            let told = Arc::new(Told { changes: Mutex::new(sender), kept: Mutex::default() });
            Self { place, fs, told, changes }
        }

        fn watch(&self, node: &Handle, has_children: bool) {
            let watched = WatchedNode { node, has_children };
            self.fs.watch(watched, Arc::clone(&self.told) as _).expect("it is watched");
        }

        fn make(&self, text: &str) -> Handle {
            let (me, root, how) = (me(), self.fs.root(), Create::Guarded(NewAttributes::with_mode(0o644)));
            let name = Name::parse(text.as_bytes()).expect("a name");
            self.fs
                .create(&me, CreateFile::new(&root, name, &how), &mut Change::default())
                .expect("made")
                .handle
        }

        /// Another process of this host does something in the directory.
        fn by_others(&self, script: &str) {
            assert!(by_others(self.place.path(), script), "{script}");
        }

        /// All that is told until a file of this name, which others make in the watched root, is.
        fn told_until_made(&self, text: &str) -> Vec<LocalChange> {
            self.by_others(&format!("mkdir {text}"));
            let mut told = Vec::new();
            loop {
                let change = self.changes.recv_timeout(PATIENCE).expect("it is told");
                if change == LocalChange::Of(self.fs.root()) {
                    return told;
                }
                told.push(change);
            }
        }
    }

    fn by_others(place: &Path, script: &str) -> bool {
        Command::new("sh")
            .args(["-c", script])
            .current_dir(place)
            .status()
            .is_ok_and(|status| status.success())
    }

    fn me() -> Caller {
        Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
    }

    /// Whether the kernel and the file system of temporary files are such as the server needs.
    fn is_possible() -> bool {
        let watched = Watched::new();
        watched.fs.local_changes_obstacle().is_none()
    }

    #[test]
    fn what_others_change_is_told_and_not_what_we_change() {
        if !is_possible() {
            return;
        }
        let watched = Watched::new();
        watched.watch(&watched.fs.root(), false);
        watched.make("file");
        assert_eq!(watched.told_until_made("one"), [], "it is ours");
        watched.by_others("echo more >> file; chmod 600 file");
        assert_eq!(watched.told_until_made("two"), [], "files in it were not asked for");
        for change in ["touch new", "mv file new", "rm file", "chmod 711 .", "ln file link", "ln -s x y"] {
            let watched = Watched::new();
            watched.make("file");
            watched.watch(&watched.fs.root(), false);
            watched.by_others(change);
            let told = watched.changes.recv_timeout(PATIENCE);
            assert_eq!(told, Ok(LocalChange::Of(watched.fs.root())), "{change}");
        }
        for change in ["echo more >> file", "chmod 600 file", "touch file", "truncate -s 5 file", "rm file"] {
            let watched = Watched::new();
            let file = watched.make("file");
            watched.watch(&file, false);
            watched.by_others(change);
            assert_eq!(watched.changes.recv_timeout(PATIENCE), Ok(LocalChange::Of(file)), "{change}");
        }
    }

    #[test]
    fn files_in_a_directory_are_watched_by_it() {
        if !is_possible() {
            return;
        }
        for change in ["echo more >> file", "chmod 600 file", "touch file"] {
            let watched = Watched::new();
            watched.make("file");
            watched.watch(&watched.fs.root(), true);
            watched.by_others(change);
            let told = watched.changes.recv_timeout(PATIENCE);
            assert_eq!(told, Ok(LocalChange::Of(watched.fs.root())), "{change}");
        }
    }

    #[test]
    fn what_nobody_wants_is_watched_no_longer() {
        if !is_possible() {
            return;
        }
        let watched = Watched::new();
        let (root, file) = (watched.fs.root(), watched.make("file"));
        [&root, &file].into_iter().for_each(|node| watched.watch(node, false));
        watched.told.kept.lock().push(root);
        watched.fs.tidy();
        assert_eq!(watched.fs.count(), 2, "they are new");
        watched.fs.tidy();
        assert!(watched.fs.is_watched(&root) && !watched.fs.is_watched(&file));
        watched.by_others("echo more >> file");
        assert_eq!(watched.told_until_made("one"), []);
        watched.told.kept.lock().clear();
        watched.fs.tidy();
        assert!(!watched.fs.is_watched(&root) && watched.fs.count() == 0);
        assert!(watched.fs.local_watch.listener.lock().is_none(), "nothing listens");
        watched.watch(&root, false);
        watched.by_others("touch new");
        assert_eq!(watched.changes.recv_timeout(PATIENCE), Ok(LocalChange::Of(root)));
    }

    #[test]
    fn lost_events_and_the_end_of_the_watch_are_told_as_any_change() {
        if !is_possible() {
            return;
        }
        let watched = Watched::new();
        let root = watched.fs.root();
        watched.watch(&root, false);
        {
            let listener = watched.fs.local_watch.listener.lock();
            let shared = &listener.as_ref().expect("it listens").shared;
            let mut overflow = 24u32.to_ne_bytes().to_vec();
            overflow.extend([3, 0]);
            overflow.extend(24u16.to_ne_bytes());
            overflow.extend(libc::FAN_Q_OVERFLOW.to_ne_bytes());
            overflow.extend([0xff; 4]);
            overflow.extend(0i32.to_ne_bytes());
            shared.on_events(&overflow);
        }
        assert_eq!(watched.changes.recv_timeout(PATIENCE), Ok(LocalChange::Any));
        let Watched { fs, changes, .. } = watched;
        drop(fs);
        assert_eq!(changes.recv_timeout(PATIENCE), Ok(LocalChange::Any));
    }
}
