//! The search for nodes that the index does not know, or not where they are: a walk through the whole tree.
//!
//! One thread walks, for all who search, and rests between walks. A walk opens each directory and reads its entries; only
//! entries with a wanted file number are looked at, so a tree of a million files takes about a second. A caller that waits too
//! long is asked to try again later. A node that two walks did not meet is gone: one walk may miss what is moved behind its
//! back. A walk that could not look everywhere, for want of descriptors or because the disk fails, says nothing of what it did
//! not meet.

use std::collections::{HashMap, HashSet, VecDeque};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use howdah_vfs::{FsError, Handle, Result};
use parking_lot::{Condvar, Mutex};
use rustix::fs::OFlags;

use super::super::errno::refusal;
use super::super::stream::{State, Stream};
use super::super::tree::{LOOK, Tree};
use super::form::file_number;
use super::index::{Index, Place};
use super::kernel::Maker;

/// How long a call waits for a search.
const PATIENCE: Duration = Duration::from_millis(200);

/// The rest after a walk, in walks: searching takes at most a fifth of one processor.
const REST: u32 = 4;

/// The shortest rest.
const SHORTEST_REST: Duration = Duration::from_millis(2);

/// Walks that must miss a node before it is gone.
const WALKS: u8 = 2;

/// So many nodes are searched for at the same time.
const MOST_WANTED: usize = 1 << 16;

/// So many nodes that are gone are remembered, lest each question about one costs a walk.
const MOST_GONE: usize = 1 << 16;

/// The deepest directory that is walked into, as deep as a path leads that is known: each level takes a descriptor while the walk is
/// in it.
const DEEPEST: usize = 2048;

/// How a directory is opened to be walked.
const WALK: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Searches for nodes.
pub(in super::super) struct Searcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    tree: Arc<Tree>,
    maker: Maker,
    root: Handle,
    index: Arc<Index>,
    state: Mutex<Searches>,
    changed: Condvar,
}

#[derive(Default)]
struct Searches {
    /// The nodes looked for, and how many walks missed each.
    wanted: HashMap<Handle, u8>,
    gone: HashSet<Handle>,
    gone_in_order: VecDeque<Handle>,
    stop: bool,
}

impl Searcher {
    /// Starts the thread, which rests until somebody searches.
    pub(in super::super) fn start(
        tree: &Arc<Tree>,
        maker: &Maker,
        root: Handle,
        index: &Arc<Index>,
    ) -> std::io::Result<Self> {
        let (tree, index) = (Arc::clone(tree), Arc::clone(index));
        let shared = Arc::new(Shared {
            tree,
            maker: maker.clone(),
            root,
            index,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let walker = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("handle-search".to_owned()).spawn(move || walker.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Waits until the index knows where the node is. Refused if it is gone, or if that takes too long.
    pub(in super::super) fn search(&self, node: &Handle) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shared.state.lock();
        if state.gone.contains(node) {
            return Err(FsError::Stale);
        }
        if state.wanted.len() >= MOST_WANTED {
            return Err(FsError::Delay);
        }
        state.wanted.entry(*node).or_insert(0);
        self.shared.changed.notify_all();
        loop {
            let late = self.shared.changed.wait_until(&mut state, deadline).timed_out();
            if state.gone.contains(node) {
                return Err(FsError::Stale);
            }
            if !state.wanted.contains_key(node) {
                return Ok(());
            }
            if late {
                return Err(FsError::Delay);
            }
        }
    }

    /// A node is surely gone: we removed its last name.
    pub(in super::super) fn on_gone(&self, node: &Handle) {
        self.shared.state.lock().bury(*node);
    }

    /// A node was seen.
    pub(in super::super) fn on_seen(&self, node: &Handle) {
        self.shared.state.lock().gone.remove(node);
    }
}

impl Drop for Searcher {
    fn drop(&mut self) {
        self.shared.state.lock().stop = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only fails if the thread panicked, which was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Searches {
    fn bury(&mut self, node: Handle) {
        if self.gone.insert(node) {
            self.gone_in_order.push_back(node);
        }
        if self.gone_in_order.len() > MOST_GONE
            && let Some(oldest) = self.gone_in_order.pop_front()
        {
            self.gone.remove(&oldest);
        }
    }

    /// What became of the nodes that were looked for.
    fn conclude(&mut self, walk: &Walk<'_>) {
        for node in walk.sought.values().flatten() {
            if walk.found.contains(node) {
                self.wanted.remove(node);
            } else if let Some(missed) = self.wanted.get_mut(node).filter(|_| !walk.is_blind) {
                *missed += 1;
                if *missed >= WALKS {
                    self.wanted.remove(node);
                    self.bury(*node);
                }
            }
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            while state.wanted.is_empty() && !state.stop {
                self.changed.wait(&mut state);
            }
            if state.stop {
                return;
            }
            let mut sought: HashMap<u64, Vec<Handle>> = HashMap::new();
            for node in state.wanted.keys() {
                sought.entry(file_number(node)).or_default().push(*node);
            }
            drop(state);
            let start = Instant::now();
            let mut walk = Walk { shared: self, sought: &sought, found: HashSet::new(), is_blind: false };
            walk.run();
            let end = Instant::now();
            state = self.state.lock();
            state.conclude(&walk);
            self.changed.notify_all();
            let rested = end + ((end - start) * REST).max(SHORTEST_REST);
            while !state.stop && !self.changed.wait_until(&mut state, rested).timed_out() {}
        }
    }
}

/// One walk.
struct Walk<'a> {
    shared: &'a Shared,
    sought: &'a HashMap<u64, Vec<Handle>>,
    found: HashSet<Handle>,
    /// Whether it could not look somewhere.
    is_blind: bool,
}

/// A directory on the way down.
struct Level {
    stream: Stream,
    name: Box<[u8]>,
    /// Whether the entry that is next was looked at already.
    looked: bool,
}

impl<'a> Walk<'a> {
    fn run(&mut self) {
        let shared = self.shared;
        let count = self.sought.values().map(Vec::len).sum::<usize>();
        let mut levels: Vec<Level> = Vec::new();
        levels.extend(self.enter(shared.tree.root(), b"."));
        while let Some(level) = levels.last_mut() {
            match self.next(level) {
                Step::Down(name) => {
                    let below = self.enter(level.stream.directory(), &name);
                    levels.extend(below.filter(|_| levels.len() < DEEPEST));
                }
                Step::Look(name, nodes) => self.look(&levels, &name, nodes),
                Step::Up => drop(levels.pop()),
            }
            if self.found.len() == count || shared.state.lock().stop {
                break;
            }
        }
    }

    /// What came of a look, if anything is there.
    fn there<T>(&mut self, looked: Result<T>) -> Option<T> {
        self.is_blind |= looked.as_ref().is_err_and(|&refused| may_be_there(refused));
        looked.ok()
    }

    fn enter(&mut self, above: BorrowedFd<'_>, name: &[u8]) -> Option<Level> {
        let opened = self.shared.tree.open_name(above, name, WALK).map_err(refusal);
        let directory = self.there(opened)?;
        let stream = Stream::new(self.shared.root, directory, 0, State::default()).map_err(refusal);
        let stream = self.there(stream)?;
        Some(Level { stream, name: name.into(), looked: false })
    }

    /// Goes on in a directory to the next entry that matters. A wanted directory comes twice: to be looked at, and to
    /// be walked into.
    fn next(&mut self, level: &mut Level) -> Step<'a> {
        loop {
            let Some(Some(item)) = self.there(level.stream.peek().map_err(refusal)) else { return Step::Up };
            let name = item.name.to_bytes();
            let dots = matches!(name, b"." | b"..");
            let wanted = self.sought.get(&item.file).filter(|_| !dots && !level.looked);
            if let Some(nodes) = wanted {
                let step = Step::Look(name.into(), nodes);
                level.looked = true;
                return step;
            }
            let down = (item.may_be_directory() && !dots).then(|| Step::Down(name.into()));
            level.looked = false;
            level.stream.advance();
            if let Some(step) = down {
                return step;
            }
        }
    }

    /// Looks at an entry with a wanted number: if it is a wanted node, its place is recorded, and the places of the
    /// directories down to it.
    fn look(&mut self, levels: &[Level], name: &[u8], nodes: &[Handle]) {
        let Some(level) = levels.last() else { return };
        let opened = self.shared.tree.open_name(level.stream.directory(), name, LOOK).map_err(refusal);
        let Some(child) = self.there(opened) else { return };
        let Some(handle) = self.handle(child.as_fd()).filter(|handle| nodes.contains(handle)) else { return };
        let mut above = self.shared.root;
        for (at, level) in levels.iter().enumerate() {
            let Some(directory) = self.handle(level.stream.directory()) else { return };
            if at > 0 {
                self.shared.index.record(&directory, Place { directory: above, name: level.name.clone() });
            }
            above = directory;
        }
        self.shared.index.record(&handle, Place { directory: above, name: name.into() });
        self.found.insert(handle);
    }

    fn handle(&mut self, node: BorrowedFd<'_>) -> Option<Handle> {
        self.there(self.shared.maker.of(node))
    }
}

/// Whether the refusal of a look leaves open what is there, and another look will show it: descriptors or memory ran short.
/// What we may not look at, or what is broken, is not there for us: else one such directory would keep all searches from
/// ending.
fn may_be_there(refused: FsError) -> bool {
    refused == FsError::Delay
}

/// What the walk does next.
enum Step<'a> {
    /// Into a directory of this name.
    Down(Box<[u8]>),
    /// At an entry that may be one of these nodes.
    Look(Box<[u8]>, &'a [Handle]),
    Up,
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::super::super::identify::identify;
    use super::super::layout::Layout;
    use super::*;

    #[test]
    fn what_lies_deep_is_found() {
        let place = tempfile::tempdir().expect("a directory");
        let deepest = (0..300).fold(place.path().to_owned(), |path, _| path.join("d"));
        std::fs::create_dir_all(&deepest).expect("directories");
        let tree = Arc::new(Tree::open(place.path(), false).expect("it opens"));
        let device = tree.device;
        let maker =
            Maker { from_kernel: false, layout: Layout::Unknown, shape: (0, 0), device, mounts: None };
        let handle_of = |path: &std::path::Path| {
            let opened = rustix::fs::open(path, LOOK, rustix::fs::Mode::empty()).expect("opened");
            let seen = identify(opened.as_fd()).expect("looked at");
            maker.of_open(opened.as_fd(), &seen).expect("a handle")
        };
        let (root, node) = (handle_of(place.path()), handle_of(&deepest));
        let index = Arc::new(Index::open(None, &root).expect("in memory"));
        let shared = Shared { tree, maker, root, index, state: Mutex::default(), changed: Condvar::new() };
        let sought = HashMap::from([(file_number(&node), vec![node])]);
        let mut walk = Walk { shared: &shared, sought: &sought, found: HashSet::new(), is_blind: false };
        walk.run();
        assert!(walk.found.contains(&node) && !walk.is_blind);
    }

    #[test]
    fn what_a_walk_missed_that_could_not_look_everywhere_is_not_gone() {
        let place = tempfile::tempdir().expect("a directory");
        let tree = Arc::new(Tree::open(place.path(), false).expect("it opens"));
        let device = tree.device;
        let maker =
            Maker { from_kernel: false, layout: Layout::Unknown, shape: (0, 0), device, mounts: None };
        let handle = |byte| Handle::new(&[byte; 18]).expect("short enough");
        let (root, node) = (handle(1), handle(2));
        let index = Arc::new(Index::open(None, &root).expect("in memory"));
        let shared = Shared { tree, maker, root, index, state: Mutex::default(), changed: Condvar::new() };
        let sought = HashMap::from([(file_number(&node), vec![node])]);
        let mut searches = Searches::default();
        searches.wanted.insert(node, 0);
        let mut walk = Walk { shared: &shared, sought: &sought, found: HashSet::new(), is_blind: false };
        for errno in
            [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::XDEV, Errno::STALE, Errno::ACCESS, Errno::IO]
        {
            assert_eq!(walk.there::<()>(Err(refusal(errno))), None);
            assert!(!walk.is_blind, "{errno:?}");
        }
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
            walk.is_blind = false;
            assert_eq!(walk.there::<()>(Err(refusal(errno))), None);
            assert!(walk.is_blind, "{errno:?}");
        }
        for _ in 0..2 * WALKS {
            searches.conclude(&walk);
            assert!(searches.wanted.contains_key(&node) && searches.gone.is_empty());
        }
        walk.is_blind = false;
        for _ in 0..WALKS {
            searches.conclude(&walk);
        }
        assert!(searches.wanted.is_empty() && searches.gone.contains(&node));
    }
}
