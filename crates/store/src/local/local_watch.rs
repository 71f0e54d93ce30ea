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

use super::change_events::{NodeIdentity, events};
use super::errno::refusal;
use super::node::Node;
use super::open_nodes::OpenNodes;
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

/// What listens, while any node of a directory is watched.
pub(super) struct LocalWatch {
    nodes: Arc<OpenNodes>,
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

impl LocalWatch {
    pub(super) fn new(nodes: Arc<OpenNodes>) -> Self {
        Self { nodes, listener: Mutex::default() }
    }

    /// Why changes by other programs of this host are not noticed, if they are not.
    pub(super) fn obstacle(&self) -> Option<&'static str> {
        if !self.nodes.tree().is_usual() {
            return Some("other hosts may change its file system, or it does not report changes");
        }
        (!can_listen()).then_some("the kernel reports no changes to this process (fanotify, Linux 5.13)")
    }

    fn node(&self, node: &Handle) -> Result<Arc<Node>> {
        self.nodes.identity().assume_root()?;
        self.nodes.node(node)
    }
}

/// Whether the kernel tells this process of changes. It is asked once.
fn can_listen() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| syscall::start_change_events().is_ok())
}

impl LocalChanges for LocalWatch {
    fn watch(&self, watched: WatchedNode<'_>, observer: Arc<dyn LocalChangeObserver>) -> Result<()> {
        let node = self.node(watched.node)?;
        // Of file systems that are mounted inside, nothing is known.
        if node.device() != Some(self.nodes.tree().device) {
            return Err(FsError::NotSupported);
        }
        self.nodes.identity().assume_root()?;
        let shared = {
            let mut listener = self.listener.lock();
            match &*listener {
                Some(listening) => {
                    *listening.shared.observer.lock() = observer;
                    Arc::clone(&listening.shared)
                }
                None => Arc::clone(&listener.insert(Listener::start(observer).map_err(refusal)?).shared),
            }
        };
        shared.watch(self.nodes.tree(), &node, watched.has_children)
    }

    fn is_watched(&self, node: &Handle) -> bool {
        let listener = self.listener.lock();
        listener.as_ref().is_some_and(|listener| listener.shared.nodes.lock().has(node))
    }

    fn count(&self) -> usize {
        let listener = self.listener.lock();
        listener.as_ref().map_or(0, |listener| listener.shared.nodes.lock().count())
    }

    /// Watches no longer what nobody wants to know of, and ends if nothing is left.
    fn tidy(&self) {
        let mut listener = self.listener.lock();
        let Some(Listener { shared, .. }) = &*listener else { return };
        if shared.tidy(self.nodes.tree(), |node| self.node(node)) > 0 {
            return;
        }
        let idle = listener.take();
        // It waits for its thread, which may wait for those who wait here.
        drop(listener);
        drop(idle);
    }
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
        for event in events(bytes).filter(|event| !event.is_by(own)) {
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

    /// How many nodes are left.
    fn tidy(&self, tree: &Tree, open: impl Fn(&Handle) -> Result<Arc<Node>>) -> usize {
        let observer = Arc::clone(&self.observer.lock());
        let mut nodes = self.nodes.lock();
        let old = nodes.take_old();
        let kept = observer.keep_watched(&old);
        for (node, _) in old.iter().zip(kept).filter(|(_, is_kept)| !is_kept) {
            nodes.remove(node);
            // What is gone the kernel has forgotten.
            if let Ok(node) = open(node) {
                let (at, name) = tree.alias(node.descriptor());
                let all = FILE | DIRECTORY | CHILDREN;
                let _ = syscall::watch_changes(self.events.as_fd(), false, all, at, name.as_c_str());
            }
        }
        nodes.count()
    }
}

fn identity(handle: &KernelHandle) -> NodeIdentity {
    NodeIdentity::of(handle.kind(), handle.as_bytes())
}
