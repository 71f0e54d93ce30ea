//! The one thread that changes what is on the disk: it puts data there, removes what gives way, and writes the index.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use super::index::Eviction;
use super::node::{CachedNode, DataPlace};
use super::pieces::PIECE;
use super::queue::Put;
use super::report::DiskCacheState;
use super::secret::NodeKey;
use super::shared::{DiskShared, DiskState};
use super::storage::{CacheStorage, DiskSpace, IndexChange, SmallData};

/// Up to so many bytes the data of a whole file is in the index.
pub const SMALL_MAX: usize = 16 << 10;
/// How often the index is written, and for how long a full disk is left alone.
const EVERY: Duration = Duration::from_secs(1);
/// Data of small files that waits for the index at most, in bytes.
const SMALL_WAITING_MAX: usize = 16 << 20;
/// How much is written until the disk is asked how full it is.
const LOOK_AFTER: u64 = 16 << 20;
/// A cache with room for less adds nothing.
const ROOM_MIN: u64 = 1 << 20;
/// One part in so many of the disk stays free.
const FREE_PART: u64 = 20;
/// One part in so many of the cache is the most that the index takes with the data of small files.
const INDEX_PART: u64 = 4;
/// Failures in a row after which the disk is given up.
const FAILURES_MAX: u32 = 16;
/// How long the end of the cache waits for the disk.
const END: Duration = Duration::from_secs(2);

/// The thread's handle. The thread ends when this is dropped.
pub struct DiskWriter {
    shared: Arc<DiskShared>,
    thread: Option<JoinHandle<()>>,
}

impl DiskWriter {
    /// Starts the thread.
    pub fn start(shared: &Arc<DiskShared>) -> Self {
        let its = Arc::clone(shared);
        let space = DiskSpace { total: 0, available: 0, index: 0 };
        let writing = Writing {
            shared: its,
            limit: 0,
            space,
            since_look: 0,
            looked: None,
            committed: Instant::now(),
            has_failed: false,
            failures: 0,
        };
        let thread = thread::Builder::new().name("disk-cache-write".to_owned()).spawn(move || writing.run());
        if let Err(error) = &thread {
            tracing::warn!(%error, "starting a thread");
            shared.turn_off(&mut shared.state.lock(), DiskCacheState::Fails);
        }
        Self { shared: Arc::clone(shared), thread: thread.ok() }
    }

    /// Waits until all that was taken is on the disk, and its index; not longer than this. Says whether it is.
    pub fn settled(&self, within: Duration) -> bool {
        let end = Instant::now() + within;
        let mut state = self.shared.state.lock();
        state.waiting += 1;
        self.shared.work.notify_all();
        let mut is_late = false;
        while !self.shared.is_off() && !is_settled(&state) && !is_late {
            is_late = self.shared.idle.wait_until(&mut state, end).timed_out();
        }
        state.waiting -= 1;
        is_settled(&state)
    }
}

fn is_settled(state: &DiskState) -> bool {
    state.is_loaded && state.puts.is_idle() && !state.index.is_dirty() && state.writing_since.is_none()
}

impl Drop for DiskWriter {
    fn drop(&mut self) {
        let end = Instant::now() + END;
        let mut state = self.shared.state.lock();
        state.ends = true;
        self.shared.work.notify_all();
        while !state.has_ended && !self.shared.is_off() {
            if self.shared.idle.wait_until(&mut state, end).timed_out() {
                break;
            }
        }
        // A disk that hangs is left to its thread.
        let thread = self.thread.take().filter(|_| state.has_ended);
        drop(state);
        // Its panic was reported.
        let _ = thread.map(JoinHandle::join);
    }
}

/// What the thread has.
struct Writing {
    shared: Arc<DiskShared>,
    /// Bytes that files may take on the disk now.
    limit: u64,
    space: DiskSpace,
    /// Bytes written since the disk was asked how full it is, and when it was.
    since_look: u64,
    looked: Option<Instant>,
    /// When the index was written last, and whether that failed.
    committed: Instant,
    has_failed: bool,
    failures: u32,
}

enum Work {
    Put(Put),
    Commit,
    End,
}

impl Writing {
    fn run(mut self) {
        self.load();
        loop {
            match self.next() {
                Work::Put(put) => self.put(&put),
                Work::Commit => self.commit(),
                Work::End => break,
            }
        }
        self.commit();
        self.shared.state.lock().has_ended = true;
        self.shared.idle.notify_all();
    }

    /// Reads the index. Until then nothing is found.
    fn load(&mut self) {
        let shared = &self.shared;
        let mut entries = Vec::new();
        let loaded = shared.storage.load(&mut |key, entry| entries.push((key, entry.to_vec())));
        let mut state = shared.state.lock();
        if let Err(error) = loaded {
            tracing::warn!(%error, "opening the cache on disk");
            return shared.turn_off(&mut state, DiskCacheState::Fails);
        }
        for (key, entry) in entries {
            state.index.load(key, |id| CachedNode::decode(&shared.secret, &key, id, &entry));
        }
        state.is_loaded = true;
        drop(state);
        let swept = shared.storage.sweep(&|key| shared.state.lock().index.get(key).is_some());
        if let Err(error) = swept {
            tracing::debug!(%error, "removing data that no index knows");
        }
    }

    fn next(&self) -> Work {
        let shared = &self.shared;
        let due = self.committed + EVERY;
        let mut state = shared.state.lock();
        loop {
            let is_dirty = state.index.is_dirty();
            if is_dirty && (Instant::now() >= due || state.small.bytes() > SMALL_WAITING_MAX) {
                return Work::Commit;
            }
            if let Some(put) = state.puts.start() {
                return Work::Put(put);
            }
            if is_dirty && state.waiting > 0 && !self.has_failed {
                return Work::Commit;
            }
            if state.ends || shared.is_off() {
                return Work::End;
            }
            if is_dirty {
                shared.work.wait_until(&mut state, due);
            } else {
                shared.idle.notify_all();
                shared.work.wait(&mut state);
            }
        }
    }

    /// Makes a call that may hang.
    fn on_disk<T>(&self, run: impl FnOnce(&dyn CacheStorage) -> io::Result<T>) -> io::Result<T> {
        self.shared.state.lock().writing_since = Some(self.shared.now());
        let outcome = run(&*self.shared.storage);
        self.shared.state.lock().writing_since = None;
        outcome
    }

    fn put(&mut self, put: &Put) {
        if self.since_look >= LOOK_AFTER || self.looked.is_none_or(|looked| looked.elapsed() > EVERY) {
            self.look();
        }
        let shared = Arc::clone(&self.shared);
        if self.limit < ROOM_MIN {
            let mut state = shared.state.lock();
            state.puts.finish();
            state.full_until = shared.now() + EVERY;
            return;
        }
        let pieces = put.bytes.chunks(PIECE as usize);
        let first = (put.offset / PIECE) as u32;
        let numbered = (first..).zip(pieces);
        let pieces: Vec<_> = numbered
            .map(|(index, bytes)| (index, bytes.len(), shared.secret.sum(&put.key, index, bytes)))
            .collect();
        let is_small = put.is_whole
            && put.bytes.len() <= SMALL_MAX
            && self.space.index < shared.options.size / INDEX_PART;
        let mut state = shared.state.lock();
        let Some(node) = state.index.get_mut(&put.key, put.id) else {
            state.puts.finish();
            return;
        };
        let place =
            if is_small && node.place != Some(DataPlace::File) { DataPlace::Index } else { DataPlace::File };
        let begins = node.place != Some(place);
        if begins {
            (node.place, node.pieces) = (Some(place), Default::default());
        }
        if place == DataPlace::Index {
            state.small.insert(put.key, put.id, put.bytes.clone());
            self.arrived(state, put, &pieces, 0);
        } else {
            drop(state);
            match self.on_disk(|disk| disk.write(&put.key, put.offset, &put.bytes, begins)) {
                Ok(bytes) => self.arrived(shared.state.lock(), put, &pieces, bytes),
                Err(error) => self.failed(put, &error),
            }
        }
        self.since_look += put.bytes.len() as u64;
        self.make_room();
    }

    /// Data is on the disk: it is found from now on, unless it was changed meanwhile.
    fn arrived(
        &mut self,
        mut state: MutexGuard<'_, DiskState>,
        put: &Put,
        pieces: &[(u32, usize, u64)],
        bytes: u64,
    ) {
        self.failures = 0;
        let counts = state.puts.finish();
        if let Some(node) = state.index.get_mut(&put.key, put.id) {
            for (index, length, sum) in pieces.iter().filter(|_| counts) {
                node.pieces.put(*index, *length, *sum);
            }
        }
        state.index.set_bytes(&put.key, put.id, bytes);
    }

    /// Data could not be written.
    fn failed(&mut self, put: &Put, error: &io::Error) {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state.lock();
        state.puts.finish();
        state.forget(&put.key);
        if is_full(error) {
            state.full_until = shared.now() + EVERY;
            self.limit = state.index.bytes() - state.index.bytes() / 16;
            self.looked = None;
            return;
        }
        tracing::debug!(%error, "writing to the cache on disk");
        self.count_failure(&mut state);
    }

    fn count_failure(&mut self, state: &mut DiskState) {
        self.failures += 1;
        if self.failures >= FAILURES_MAX {
            self.shared.turn_off(state, DiskCacheState::Fails);
        }
    }

    /// Asks how full the disk is, and how much of it may be taken.
    fn look(&mut self) {
        (self.since_look, self.looked) = (0, Some(Instant::now()));
        let Ok(space) = self.on_disk(|disk| disk.space()) else { return };
        self.space = space;
        let held = {
            let mut state = self.shared.state.lock();
            state.database_bytes = space.index;
            state.index.bytes()
        };
        let room = (held + space.available).saturating_sub(space.total / FREE_PART);
        self.limit = room.min(self.shared.options.size.saturating_sub(space.index));
    }

    /// Removes what was not wanted lately until the rest fits.
    fn make_room(&mut self) {
        loop {
            let mut state = self.shared.state.lock();
            if state.index.bytes() <= self.limit && !state.index.is_crowded() {
                return;
            }
            let Some(eviction) = state.index.evict() else { return };
            drop(state);
            let outcome = match eviction {
                Eviction::Node(key) => self.on_disk(|disk| disk.remove(&key)),
                Eviction::Pieces(key, id, ranges) => {
                    self.on_disk(|disk| disk.punch(&key, &ranges)).map(|bytes| {
                        self.shared.state.lock().index.set_bytes(&key, id, bytes);
                    })
                }
            };
            if let Err(error) = outcome {
                tracing::debug!(%error, "making room in the cache on disk");
                return;
            }
        }
    }

    /// Writes the index.
    fn commit(&mut self) {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state.lock();
        if shared.is_off() {
            return;
        }
        let keys = state.index.take_dirty();
        let changes: Vec<_> = keys.iter().map(|key| change(&shared, &state, key)).collect();
        let has_begun = |key: &NodeKey| state.index.get(key).is_some_and(|node| node.place.is_some());
        let gone: Vec<_> = keys.iter().filter(|key| !has_begun(key)).copied().collect();
        drop(state);
        let outcome = self.on_disk(|disk| {
            disk.commit(&changes)?;
            gone.iter().try_for_each(|key| disk.remove(key))
        });
        (self.committed, self.has_failed) = (Instant::now(), outcome.is_err());
        let mut state = shared.state.lock();
        match outcome {
            Ok(()) => {
                let DiskState { index, small, .. } = &mut *state;
                // What belongs to files with changes under way is written when these have ended.
                small.retain(|key| index.get(key).is_some_and(|node| node.is_open));
            }
            Err(error) => {
                state.index.set_dirty(keys);
                if is_full(&error) {
                    state.full_until = shared.now() + EVERY;
                    self.limit = state.index.bytes() - state.index.bytes() / 16;
                } else {
                    tracing::debug!(%error, "writing the index of the cache on disk");
                    self.count_failure(&mut state);
                }
            }
        }
        drop(state);
        self.look();
        self.make_room();
    }
}

/// An entry as it is to be on the disk. While changes of ours are under way nobody knows a file's tag.
fn change(shared: &DiskShared, state: &DiskState, key: &NodeKey) -> IndexChange {
    let node = state.index.get(key).filter(|node| !node.is_open && node.pieces.len() > 0);
    let entry = node.map(|node| node.encode(&shared.secret, key));
    let small = match node {
        Some(node) if node.place == Some(DataPlace::Index) => {
            let waiting = state.small.get(key, node.id);
            waiting.map_or(SmallData::Kept, |data| SmallData::New(data.clone()))
        }
        _ => SmallData::Absent,
    };
    IndexChange { key: *key, entry, small }
}

/// Whether nothing more fits on the disk.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), QuotaExceeded | StorageFull)
}
