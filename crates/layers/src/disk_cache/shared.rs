//! What callers, the threads that read the disk and the one that writes it have in common.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use howdah_vfs::Handle;
use parking_lot::{Condvar, Mutex};

use super::index::DiskIndex;
use super::node::DataPlace;
use super::options::DiskCacheOptions;
use super::pieces::CachedPiece;
use super::queue::PutQueue;
use super::report::{DiskCacheReport, DiskCacheState};
use super::secret::{CacheSecret, NodeKey};
use super::seen::SeenFiles;
use super::small::SmallFiles;
use super::storage::CacheStorage;
use super::tag::ContentTag;

/// All of it.
pub struct DiskShared {
    pub storage: Arc<dyn CacheStorage>,
    pub options: DiskCacheOptions,
    pub secret: CacheSecret,
    start: Instant,
    pub state: Mutex<DiskState>,
    /// The writer has something to do.
    pub work: Condvar,
    /// The writer has done all, or has ended.
    pub idle: Condvar,
    is_off: AtomicBool,
    pub hits: AtomicU64,
    pub misses: AtomicU64,
    pub late: AtomicU64,
    pub damaged: AtomicU64,
}

/// Pieces of a file that follow each other.
pub struct WantedPieces {
    pub key: NodeKey,
    pub place: DataPlace,
    pub pieces: Vec<CachedPiece>,
}

/// What changes.
#[derive(Default)]
pub struct DiskState {
    pub seen: SeenFiles,
    pub index: DiskIndex,
    pub puts: PutQueue,
    pub small: SmallFiles,
    pub is_loaded: bool,
    /// What the index takes on the disk, in bytes, as was seen last.
    pub database_bytes: u64,
    /// Why it is not used any more.
    off: Option<DiskCacheState>,
    /// While the disk is full: until then nothing is added.
    pub full_until: Duration,
    /// Since when the writer waits for the disk.
    pub writing_since: Option<Duration>,
    /// When the reads began that are under way, by their numbers.
    pub reads: BTreeMap<u64, Duration>,
    pub next_read: u64,
    /// How many wait until all is done.
    pub waiting: usize,
    /// The writer is to end, and has ended.
    pub ends: bool,
    pub has_ended: bool,
}

impl DiskShared {
    pub fn new(storage: Arc<dyn CacheStorage>, options: DiskCacheOptions) -> Self {
        Self {
            secret: CacheSecret::new(storage.secret()),
            storage,
            options,
            start: Instant::now(),
            state: Mutex::default(),
            work: Condvar::new(),
            idle: Condvar::new(),
            is_off: AtomicBool::new(false),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            late: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
        }
    }

    /// The time since this was made.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The name of a node in the cache.
    pub fn key(&self, node: &Handle) -> NodeKey {
        self.secret.key(&self.options.server, node)
    }

    /// Whether the cache is not used any more.
    pub fn is_off(&self) -> bool {
        self.is_off.load(Ordering::Relaxed)
    }

    /// Gives the cache up. What it holds stays on the disk for the next time.
    pub fn turn_off(&self, state: &mut DiskState, why: DiskCacheState) {
        if self.is_off.swap(true, Ordering::Relaxed) {
            return;
        }
        state.off = Some(why);
        state.index.clear();
        state.puts.clear();
        state.small.clear();
        match why {
            DiskCacheState::Hangs => tracing::warn!(
                seconds = self.options.hangs_after.as_secs(),
                "the disk of the cache does not answer: continuing without the cache until the next start"
            ),
            _ => tracing::warn!(
                "the disk of the cache fails: continuing without the cache until the next start"
            ),
        }
        self.idle.notify_all();
    }

    /// Gives the cache up if the disk takes too long for a call.
    pub fn look_for_hang(&self, state: &mut DiskState) {
        let oldest = state.reads.first_key_value().map(|(_, since)| *since);
        let since = oldest.into_iter().chain(state.writing_since).min();
        if since.is_some_and(|since| self.now().saturating_sub(since) > self.options.hangs_after) {
            self.turn_off(state, DiskCacheState::Hangs);
        }
    }

    /// What it holds and did.
    pub fn report(&self) -> DiskCacheReport {
        let mut state = self.state.lock();
        self.look_for_hang(&mut state);
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DiskCacheReport {
            state: match state.off {
                Some(why) => why,
                None if !state.is_loaded => DiskCacheState::Loading,
                None if self.now() < state.full_until => DiskCacheState::Full,
                None => DiskCacheState::On,
            },
            hits: count(&self.hits),
            misses: count(&self.misses),
            late: count(&self.late),
            damaged: count(&self.damaged),
            bytes: state.index.bytes() + state.database_bytes,
            bytes_max: self.options.size,
        }
    }
}

/// What a file has of what is wanted.
pub struct FoundPieces {
    /// The number of the file.
    pub id: u64,
    pub wanted: WantedPieces,
    /// The data, if it is in memory yet.
    pub waiting: Option<Bytes>,
}

impl DiskState {
    /// Where these bytes of a file of this tag are. What is kept of another content goes.
    pub fn find(&mut self, key: &NodeKey, tag: &ContentTag, bytes: &Range<u64>) -> Option<FoundPieces> {
        let id = self.index.get(key).filter(|node| !node.is_open)?.id;
        let node = self.index.get_mut(key, id)?;
        if node.tag != *tag {
            self.forget(key);
            return None;
        }
        let bytes = bytes.start..bytes.end.min(tag.size);
        let (pieces, place) = (node.pieces.covering(&bytes, tag.size)?.to_vec(), node.place?);
        node.used = true;
        node.pieces.mark_used(&bytes);
        let waiting = self.small.get(key, id).filter(|_| place == DataPlace::Index).cloned();
        Some(FoundPieces { id, wanted: WantedPieces { key: *key, place, pieces }, waiting })
    }

    /// Nothing that is kept of a file counts.
    pub fn forget(&mut self, key: &NodeKey) {
        self.index.remove(key);
        self.puts.cancel(key, &(0..u64::MAX));
        self.small.remove(key);
    }

    /// Whether so many more bytes would be put on the disk.
    pub fn takes(&self, bytes: usize, now: Duration) -> bool {
        now >= self.full_until && self.puts.has_room(bytes)
    }

    /// Changes of ours begin to a file that was seen with this tag, and these bytes of it will be others.
    pub fn open(&mut self, key: &NodeKey, seen: Option<ContentTag>, cut: &Range<u64>) {
        if self.index.get(key).is_some_and(|node| !node.is_open && Some(node.tag) != seen) {
            self.forget(key);
        }
        self.index.open(key, cut);
        self.puts.cancel(key, cut);
    }
}
