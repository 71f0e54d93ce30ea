//! The open nodes: handle to descriptors, bounded. A hit takes one short lock and no system call.
//!
//! Nodes are found by file number, which an open node alone has; the handle is compared after. What is not used
//! goes by second chance when the bound is reached, and by age so that no deleted file is kept alive and no program
//! stays busy because it was once written.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use howdah_vfs::Handle;
use parking_lot::Mutex;
use rustix::fs::fsync;

use super::errno::refusal;
use super::handles::file_number;
use super::node::Node;
use super::open_files::OpenFiles;
use super::verifier::Verifier;

/// Locks that calls spread over: more than a machine of this kind has busy workers.
const SHARDS: usize = 16;

/// Ticks (seconds) after which an unused file is no longer held open for writing: while it is, nobody can run it. With
/// uncommitted data it stays open longer: the kernel reports a failed write-back to those that had the file open then.
const WRITABLE_AGE: u32 = 2;

/// Ticks (seconds) after which an unused node is closed: so long may a file that others deleted keep its space.
const AGE: u32 = 60;

/// One in so many open nodes, and no more than this, may wait to be flushed and closed. Beyond that, who needs room
/// flushes a node itself: descriptors are bounded by that, and clients that write are held back.
const CLOSING_SHARE: usize = 8;
const CLOSING_MAX: usize = 256;

/// When all nodes are let go, calls that use one have so long to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to look whether they have.
const LOOK: Duration = Duration::from_millis(1);

/// Parts of the cache: each second another one is looked through for directories that others moved out of the export.
const TURNS: usize = 4;

/// The queue may hold so many keys of nodes that are gone before it is cleaned.
const SLACK: usize = 64;

/// The open nodes.
pub(super) struct NodeCache {
    shards: Box<[Mutex<Shard>]>,
    /// Descriptors that all nodes hold.
    open: Arc<AtomicUsize>,
    share: OpenFiles,
    tick: AtomicU32,
    /// Whose turn it is to let a node go.
    turn: AtomicUsize,
    /// Nodes with uncommitted data that are to be flushed and closed, by the next tick.
    closing: Mutex<Vec<Arc<Node>>>,
    /// Replaced when data of a node is lost that is closed.
    verifier: Arc<Verifier>,
}

#[derive(Default)]
struct Shard {
    nodes: HashMap<u64, Arc<Node>, BuildHasherDefault<NumberHasher>>,
    queue: VecDeque<Weak<Node>>,
}

impl NodeCache {
    /// Room for as many descriptors as that share has.
    pub(super) fn new(share: OpenFiles, verifier: Arc<Verifier>) -> Self {
        Self {
            verifier,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            open: Arc::default(),
            share,
            tick: AtomicU32::new(0),
            turn: AtomicUsize::new(0),
            closing: Mutex::default(),
        }
    }

    /// The node, if it is open.
    pub(super) fn get(&self, handle: &Handle) -> Option<Arc<Node>> {
        let file = file_number(handle);
        let shard = self.shard(file).lock();
        let node = shard.nodes.get(&file).filter(|node| node.handle == *handle)?;
        node.touch(self.now());
        Some(Arc::clone(node))
    }

    /// Takes in a node behind an `O_PATH` descriptor. If the node is there already, that one stays.
    pub(super) fn insert(&self, handle: Handle, path: OwnedFd) -> Arc<Node> {
        self.insert_node(Node::new(handle, path, self.now(), &self.open))
    }

    /// Takes in a node that was just created, behind a descriptor that reads and writes.
    pub(super) fn insert_created(&self, handle: Handle, file: OwnedFd) -> Arc<Node> {
        self.insert_node(Node::created(handle, file, self.now(), &self.open))
    }

    /// A node beside the cache, which never leaves.
    pub(super) fn pinned(&self, handle: Handle, path: OwnedFd) -> Arc<Node> {
        Arc::new(Node::new(handle, path, self.now(), &self.open))
    }

    fn insert_node(&self, node: Node) -> Arc<Node> {
        let file = file_number(&node.handle);
        // Not touched yet: what is looked at once goes before what is used again.
        let node = Arc::new(node);
        let replaced = {
            let mut shard = self.shard(file).lock();
            match shard.nodes.get(&file) {
                Some(existing) if existing.handle == node.handle => return Arc::clone(existing),
                _ => shard.insert(file, Arc::clone(&node)),
            }
        };
        self.close(replaced);
        self.make_room();
        node
    }

    /// Closes a node that was taken out: now, or after a flush by the next tick if it has uncommitted data.
    fn close(&self, node: Option<Arc<Node>>) {
        let Some(node) = node else { return };
        // Before the look: a WRITE that has the node looks the other way around, and one of both sees the other.
        node.let_go();
        if needs_flush(&node) {
            self.flush_later(node);
        }
    }

    /// Data was written to a node that no COMMIT has made durable.
    pub(super) fn on_uncommitted(&self, node: &Arc<Node>) {
        if node.is_uncommitted() {
            return;
        }
        node.set_uncommitted();
        // Taken out of the cache since its call found it.
        if node.is_let_go() {
            let waiting = self.closing.lock().len();
            match self.may_wait(waiting) {
                true => self.flush_later(Arc::clone(node)),
                false => flush_before_close(node, &self.verifier),
            }
        }
    }

    fn flush_later(&self, node: Arc<Node>) {
        let mut closing = self.closing.lock();
        // One that stood there twice would never be the last of its kind.
        if !closing.iter().any(|other| Arc::ptr_eq(other, &node)) {
            closing.push(node);
        }
    }

    /// How many descriptors there may be now.
    pub(super) fn most(&self) -> usize {
        self.share.most()
    }

    /// Counts descriptors of the same directory that others hold.
    pub(super) fn count(&self, more: isize) {
        match usize::try_from(more) {
            Ok(more) => self.open.fetch_add(more, Ordering::Relaxed),
            Err(_) => self.open.fetch_sub(more.unsigned_abs(), Ordering::Relaxed),
        };
    }

    /// Whether one more may wait to be flushed and closed.
    fn may_wait(&self, waiting: usize) -> bool {
        waiting < CLOSING_MAX.min(self.share.most() / CLOSING_SHARE)
    }

    /// Closes what was not used lately until the bound holds.
    pub(super) fn make_room(&self) {
        let most = self.share.most();
        // Twice around: the first time everything may turn out to be in use.
        for _ in 0..2 * SHARDS {
            // What waits to be closed is room that is made.
            let waiting = self.closing.lock().len();
            if self.open.load(Ordering::Relaxed).saturating_sub(waiting) <= most {
                return;
            }
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let victim = self.shards[turn % SHARDS].lock().evict();
            match victim {
                // A call may still write to one that others have: it waits for a tick.
                Some(node) if !self.may_wait(waiting) && Arc::strong_count(&node) == 1 => {
                    flush_before_close(&node, &self.verifier);
                }
                victim => self.close(victim),
            }
        }
    }

    /// Lets a node go, by its handle.
    pub(super) fn forget(&self, handle: &Handle) {
        let file = file_number(handle);
        let gone = {
            let mut shard = self.shard(file).lock();
            match shard.nodes.get(&file) {
                Some(node) if node.handle == *handle => shard.nodes.remove(&file),
                _ => None,
            }
        };
        self.close(gone);
    }

    /// Lets a node go, by its file number.
    pub(super) fn forget_file(&self, file: u64) {
        let gone = self.shard(file).lock().nodes.remove(&file);
        self.close(gone);
    }

    /// Lets all nodes go: the client of a cluster file system may take what it has open for newer than what other hosts wrote. Waits
    /// for calls that use one, if they end soon. For a thread that may wait for the disk.
    pub(super) fn let_go(&self) {
        self.let_go_within(PATIENCE);
    }

    fn let_go_within(&self, patience: Duration) {
        let give_up = Instant::now() + patience;
        let drain =
            |shard: &Mutex<Shard>| shard.lock().nodes.drain().map(|(_, node)| node).collect::<Vec<_>>();
        let mut used: Vec<Arc<Node>> = self.shards.iter().flat_map(drain).collect();
        loop {
            let unused = used.extract_if(.., |node| Arc::strong_count(node) == 1);
            unused.for_each(|node| flush_before_close(&node, &self.verifier));
            if used.is_empty() || Instant::now() >= give_up {
                break;
            }
            thread::sleep(LOOK);
        }
        self.flush_closing();
        // A tick closes these once their calls have ended.
        used.into_iter().for_each(|node| self.close(Some(node)));
    }

    /// The handle of the open node with this file number.
    pub(super) fn handle_of(&self, file: u64) -> Option<Handle> {
        self.shard(file).lock().nodes.get(&file).map(|node| node.handle)
    }

    /// One second has passed: closes what is too old. For a thread of its own, which may wait for the disk.
    pub(super) fn tick(&self) {
        let now = self.tick.fetch_add(1, Ordering::Relaxed) + 1;
        for shard in &self.shards {
            let old: Vec<_> = shard.lock().nodes.extract_if(|_, node| is_old(node, now)).collect();
            old.into_iter().for_each(|(_, node)| self.close(Some(node)));
            shard.lock().clean();
        }
        self.close_gone();
        self.flush_closing();
    }

    /// Closes files with uncommitted data whose last name went without our doing: nobody commits them, and their space is wanted.
    fn close_gone(&self) {
        for shard in &self.shards {
            let written = |node: &&Arc<Node>| node.is_uncommitted();
            let written: Vec<_> = shard.lock().nodes.values().filter(written).cloned().collect();
            written.iter().filter(|node| node.is_gone()).for_each(|node| self.forget(&node.handle));
        }
    }

    /// Flushes and closes those that wait for it, but for those to which a call may still write.
    fn flush_closing(&self) {
        let closing: Vec<Arc<Node>> =
            self.closing.lock().extract_if(.., |node| Arc::strong_count(node) == 1).collect();
        closing.iter().for_each(|node| flush_before_close(node, &self.verifier));
    }

    /// The open nodes that may be directories, in one of [`TURNS`] parts of the cache.
    pub(super) fn directories(&self, turn: u32) -> Vec<Arc<Node>> {
        let part = self.shards.iter().skip(turn as usize % TURNS).step_by(TURNS);
        part.flat_map(|shard| shard.lock().directories()).collect()
    }

    fn now(&self) -> u32 {
        self.tick.load(Ordering::Relaxed)
    }

    fn shard(&self, file: u64) -> &Mutex<Shard> {
        &self.shards[file as usize % SHARDS]
    }
}

/// What has uncommitted data does not go without a flush with the export, or with the server: the state directory keeps the verifier.
impl Drop for NodeCache {
    fn drop(&mut self) {
        let nodes = self.shards.iter_mut().flat_map(|shard| shard.get_mut().nodes.drain());
        let open = nodes.map(|(_, node)| node).chain(self.closing.get_mut().drain(..));
        open.for_each(|node| flush_before_close(&node, &self.verifier));
    }
}

/// Flushes a node that is about to be closed, if it has data that no COMMIT made durable: once it is closed the kernel
/// may forget that writing it back failed, and a later COMMIT would be answered that all is well.
fn flush_before_close(node: &Node, verifier: &Verifier) {
    if !node.take_uncommitted() || node.is_gone() {
        return;
    }
    if let Some(file) = node.writing() {
        let flushed = node.flushes().flush(|| fsync(file).map_err(refusal), || verifier.on_loss(file));
        if let Err(error) = flushed {
            tracing::warn!(%error, "data of a client could not be written back; clients are asked to send it again");
        }
    }
}

fn needs_flush(node: &Arc<Node>) -> bool {
    node.is_uncommitted() && !node.is_gone()
}

fn is_old(node: &Arc<Node>, now: u32) -> bool {
    let closes_early = node.writing().is_some() && !node.is_uncommitted();
    node.age(now) > if closes_early { WRITABLE_AGE } else { AGE }
}

impl Shard {
    fn directories(&self) -> Vec<Arc<Node>> {
        let nodes = self.nodes.values();
        nodes.filter(|node| node.may_be_directory()).cloned().collect()
    }

    fn insert(&mut self, file: u64, node: Arc<Node>) -> Option<Arc<Node>> {
        if self.queue.len() > 2 * self.nodes.len() + SLACK {
            self.clean();
        }
        self.queue.push_back(Arc::downgrade(&node));
        self.nodes.insert(file, node)
    }

    /// Takes nodes that are gone out of the queue: each holds its memory while it stands there.
    fn clean(&mut self) {
        if self.queue.len() > self.nodes.len() {
            self.queue.retain(|entry| entry.strong_count() > 0);
        }
    }

    /// Second chance: what was touched since it was last looked at goes to the end of the queue. The queue names nodes,
    /// not file numbers: a node that comes and goes must not stand in it twice, or its second place takes the chance
    /// that its first one gave.
    fn evict(&mut self) -> Option<Arc<Node>> {
        for _ in 0..self.queue.len() {
            let entry = self.queue.pop_front()?;
            let Some(node) = entry.upgrade() else { continue };
            let file = file_number(&node.handle);
            if !self.nodes.get(&file).is_some_and(|present| Arc::ptr_eq(present, &node)) {
                continue;
            }
            if node.take_touched() {
                self.queue.push_back(entry);
            } else {
                return self.nodes.remove(&file);
            }
        }
        None
    }
}

/// Mixes a file number. Peers cannot choose file numbers, so one multiplication does.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::open_files::tests::exactly;
    use super::*;

    fn handle(number: u8) -> Handle {
        let mut bytes = [1; 18];
        bytes[1..9].copy_from_slice(&u64::from(number).to_le_bytes());
        Handle::new(&bytes).expect("short enough")
    }

    #[test]
    fn all_nodes_go_at_once_but_those_in_use() {
        let cache = NodeCache::new(exactly(100), verifier());
        let open = || OwnedFd::from(std::fs::File::open("/").expect("opened"));
        let used = cache.insert(handle(1), open());
        drop(cache.insert(handle(2), open()));
        cache.let_go_within(Duration::ZERO);
        assert!([1, 2].iter().all(|number| cache.get(&handle(*number)).is_none()));
        assert_eq!(cache.open.load(Ordering::Relaxed), 1, "a call uses one");
        drop(used);
        assert_eq!(cache.open.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_node_in_use_goes_when_its_call_ends() {
        let cache = NodeCache::new(exactly(100), verifier());
        let used = cache.insert_created(handle(1), file());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| cache.let_go_within(Duration::from_secs(600)));
            while cache.get(&handle(1)).is_some() {
                std::thread::yield_now();
            }
            // The call writes, and ends.
            cache.on_uncommitted(&used);
            drop(used);
            waits.join().expect("it ends");
        });
        assert_eq!(cache.open.load(Ordering::Relaxed), 0, "without a tick");
    }

    type Way = fn(&NodeCache, u8);

    fn verifier() -> Arc<Verifier> {
        Arc::new(Verifier::open(None).expect("it needs no file"))
    }

    fn file() -> OwnedFd {
        OwnedFd::from(tempfile::tempfile().expect("a file"))
    }

    #[test]
    fn what_is_unused_is_closed_and_what_may_be_run_is_closed_soon() {
        let cache = NodeCache::new(exactly(100), verifier());
        cache.insert(handle(1), file());
        cache.insert_created(handle(2), file());
        let place = tempfile::NamedTempFile::new().expect("a file");
        let named = place.reopen().expect("opened").into();
        cache.insert_created(handle(3), named).set_uncommitted();
        (0..=WRITABLE_AGE).for_each(|_| cache.tick());
        assert!(cache.get(&handle(1)).is_some() && cache.get(&handle(3)).is_some());
        assert!(cache.get(&handle(2)).is_none());
        (0..=AGE).for_each(|_| cache.tick());
        assert_eq!(cache.open.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_file_that_lost_its_name_keeps_its_space_until_the_next_tick() {
        let cache = NodeCache::new(exactly(100), verifier());
        // It has no name from the start.
        let node = cache.insert_created(handle(1), file());
        cache.on_uncommitted(&node);
        let place = tempfile::NamedTempFile::new().expect("a file");
        let named = cache.insert_created(handle(2), place.reopen().expect("opened").into());
        cache.on_uncommitted(&named);
        drop((node, named));
        cache.tick();
        assert!(cache.get(&handle(1)).is_none() && cache.get(&handle(2)).is_some());
        assert_eq!(cache.open.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_bound_holds_and_what_is_used_stays() {
        let cache = NodeCache::new(exactly(100), verifier());
        for number in 0..=255 {
            cache.insert(handle(number), file());
            assert!(cache.open.load(Ordering::Relaxed) <= 100);
            assert!(cache.get(&handle(0)).is_some(), "after {number}");
        }
    }

    #[test]
    fn the_bound_holds_for_what_must_be_flushed_before_it_is_closed() {
        let cache = NodeCache::new(exactly(100), verifier());
        for number in 0..=255 {
            cache.insert_created(handle(number), file()).set_uncommitted();
            assert!(cache.open.load(Ordering::Relaxed) <= 100 + 100 / CLOSING_SHARE, "after {number}");
        }
    }

    #[test]
    fn keys_of_nodes_that_went_do_not_gather() {
        let cache = NodeCache::new(exactly(20), verifier());
        for _ in 0..10_000 {
            cache.insert(handle(7), file());
            cache.forget(&handle(7));
        }
        assert!(cache.shards.iter().all(|shard| shard.lock().queue.len() <= SLACK + 3));
        cache.tick();
        assert!(cache.shards.iter().all(|shard| shard.lock().queue.is_empty()));
    }

    #[test]
    fn what_cannot_be_flushed_when_the_export_goes_changes_the_verifier() {
        let pipe = || std::io::pipe().map(|(end, _)| OwnedFd::from(end)).expect("a pipe");
        for (uncommitted, waits) in [(false, false), (true, false), (true, true)] {
            let verifier = verifier();
            let (cache, before) = (NodeCache::new(exactly(10), Arc::clone(&verifier)), verifier.current());
            let node = cache.insert_created(handle(1), pipe());
            if uncommitted {
                cache.on_uncommitted(&node);
            }
            if waits {
                cache.forget(&node.handle);
            }
            drop(node);
            drop(cache);
            assert_eq!(verifier.current() != before, uncommitted, "waits to be closed: {waits}");
        }
    }

    #[test]
    fn uncommitted_data_that_cannot_be_flushed_before_its_node_is_closed_changes_the_verifier() {
        // What the kernel cannot flush.
        let pipe = || std::io::pipe().map(|(end, _)| OwnedFd::from(end)).expect("a pipe");
        let ways: [(&str, Way); 5] = [
            ("age", |_, _| ()),
            ("forget", |cache, number| cache.forget(&handle(number))),
            ("forget by number", |cache, number| cache.forget_file(file_number(&handle(number)))),
            ("forget while it is written", |cache, number| {
                let node = cache.get(&handle(number)).expect("it is open");
                node.take_uncommitted();
                cache.forget(&node.handle);
                cache.tick();
                cache.on_uncommitted(&node);
                // It is in its call still.
                cache.tick();
                assert!(node.is_uncommitted());
            }),
            ("room", |cache, _| (100..=255).for_each(|number| drop(cache.insert(handle(number), file())))),
        ];
        for (way, go) in ways {
            let verifier = verifier();
            let cache = NodeCache::new(exactly(10), Arc::clone(&verifier));
            let before = verifier.current();
            let node = cache.insert_created(handle(1), pipe());
            node.set_uncommitted();
            drop(node);
            let committed = cache.insert_created(handle(2), pipe());
            drop(committed);
            cache.tick();
            assert_eq!(verifier.current(), before, "{way}: it is open");
            go(&cache, 1);
            (0..=AGE).for_each(|_| cache.tick());
            assert!(cache.get(&handle(1)).is_none(), "{way}");
            assert_ne!(verifier.current(), before, "{way}");
        }
    }
}
