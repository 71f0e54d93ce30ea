//! The layer: reads are answered from what was fetched ahead, where there is something.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use howdah_threads::{AtEnd, Threads};
use howdah_tune::flight::{Bounds, Expected, Flight};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Access, Attributes, Caller, Change, Content, CopyRange, CreateFile, Entry, FileExtent, FileLock,
    FileSystem, Found, FsError, Handle, ListDirectory, Listing, Name, Node, ReadFile, ReadOutcome, Result,
    SetAttributes, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::blocks::{Block, Blocks, Key, State};
use super::streams::{ReadSeen, Streams};

/// A block that was fetched and that nobody wanted for so long gives way to another one.
const IDLE: Duration = Duration::from_secs(5);

/// The largest file that is fetched whole before it is read, in bytes. Not all that is opened is read.
const SMALL_MAX: u64 = 64 << 10;

/// How much is read ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadAheadOptions {
    /// Bytes of one fetch: the server's preferred transfer size.
    pub block: usize,
    /// Bytes that blocks of all files may hold. Beyond it nothing is read ahead.
    pub memory_budget: usize,
    /// The most fetches at a time.
    pub in_flight: usize,
    /// What the path is expected to carry.
    pub expected: Option<Expected>,
    /// For how long a file is believed to be as it was seen, so that blocks of it are given (Linux: `acregmin`). Then the server
    /// is asked.
    pub believed: Duration,
}

impl Default for ReadAheadOptions {
    fn default() -> Self {
        Self {
            block: 1 << 20,
            memory_budget: 256 << 20,
            in_flight: Bounds::default().ceiling,
            expected: None,
            believed: Duration::from_secs(3),
        }
    }
}

/// What a read-ahead has done, and how far ahead it reads now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadAheadReport {
    /// Blocks that were fetched or asked for.
    pub fetched: u64,
    /// Reads that were answered from them.
    pub hits: u64,
    /// Reads that were not.
    pub misses: u64,
    /// The most blocks that are fetched ahead of a reader, by what the path was measured to take.
    pub ahead: usize,
    /// How many blocks the reader that is furthest on has ahead of it.
    pub depth: u64,
    /// Bytes that blocks hold, or will when they are here.
    pub held: usize,
    /// The most that they may hold.
    pub memory_budget: usize,
}

/// Fetches the next blocks of a file that is read in sequence, so many at a time as the path takes: twice what is in
/// flight at the rate and the round trip that its own fetches see.
pub struct ReadAhead {
    shared: Arc<Shared>,
    fetcher: Threads,
}

struct Shared {
    inner: Arc<dyn FileSystem>,
    options: ReadAheadOptions,
    start: Instant,
    state: Mutex<Ahead>,
    arrived: Condvar,
    fetched: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

struct Ahead {
    /// For how long a file is believed to be as it was seen.
    believed: Duration,
    streams: Streams,
    blocks: Blocks,
    flight: Flight,
}

/// A fetch. Waiting readers are woken when it ends, and also when it is dropped.
struct Fetch {
    shared: Arc<Shared>,
    caller: Caller,
    key: Key,
    number: u64,
    /// So many bytes of the block are fetched.
    count: usize,
}

impl ReadAhead {
    /// The same files, read ahead.
    pub fn around(inner: Arc<dyn FileSystem>, options: ReadAheadOptions) -> Self {
        let flight = Flight::new(options.bounds()).with_call_size(options.block);
        let (believed, streams, blocks) = (options.believed, Streams::default(), Blocks::default());
        let state = Ahead { believed, streams, blocks, flight };
        let shared = Shared {
            inner,
            options,
            start: Instant::now(),
            state: Mutex::new(state),
            arrived: Condvar::new(),
            fetched: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
            fetcher: Threads::new("read-ahead", options.in_flight, AtEnd::DropJobs),
        }
    }

    /// From now on files are believed for another time to be as they were seen.
    pub fn believe_for(&self, time: Duration) {
        self.shared.state.lock().believed = time;
    }

    /// What it did, and what it chose.
    pub fn report(&self) -> ReadAheadReport {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let shared = &self.shared;
        let (ahead, depth, blocks) = {
            let state = shared.state.lock();
            (state.flight.in_flight_target(), state.streams.depth(), state.blocks.len())
        };
        ReadAheadReport {
            fetched: count(&shared.fetched),
            hits: count(&shared.hits),
            misses: count(&shared.misses),
            ahead,
            depth,
            held: blocks * shared.options.block,
            memory_budget: shared.options.memory_budget,
        }
    }

    /// Takes note of a read, and fetches what will be read next.
    fn look_ahead(&self, caller: &Caller, node: &Handle, read: &Range<u64>, missing: u64, size: u64) {
        let shared = &self.shared;
        let block = shared.options.block;
        let mut state = shared.state.lock();
        let most = state.flight.in_flight_target() as u64;
        let seen = ReadSeen { read: read.clone(), missing, size, block: block as u64, most };
        for index in state.streams.on_read(node, &seen) {
            if !self.fetch(&mut state, caller, ((*node, index), block)) {
                return;
            }
        }
    }

    /// A small file will be read, most likely: all of it is fetched.
    pub fn fetch_small(&self, caller: &Caller, node: &Handle, size: u64) {
        let count = SMALL_MAX.min(self.shared.options.block as u64);
        if (1..=count).contains(&size) {
            let mut state = self.shared.state.lock();
            self.fetch(&mut state, caller, ((*node, 0), count as usize));
        }
    }

    /// Fetches the first bytes of a block, unless it is here or will be. Says whether there is room for it.
    fn fetch(&self, state: &mut MutexGuard<'_, Ahead>, caller: &Caller, (key, count): (Key, usize)) -> bool {
        let shared = &self.shared;
        let (block, budget) = (shared.options.block, shared.options.memory_budget);
        let now = shared.start.elapsed();
        if (state.blocks.len() + 1) * block > budget && !state.blocks.make_room(now, IDLE) {
            return false;
        }
        if let Some(number) = state.blocks.expect(caller, key, now) {
            let fetch = Fetch { shared: Arc::clone(shared), caller: caller.clone(), key, number, count };
            // The lock is not held while a job is queued: a job that is dropped takes it.
            MutexGuard::unlocked(state, || self.fetcher.run(move || fetch.run()));
        }
        true
    }

    /// The block, if it is here or will be.
    fn block(&self, caller: &Caller, key: &Key) -> Option<Block> {
        let shared = &self.shared;
        let mut state = shared.state.lock();
        loop {
            let now = shared.start.elapsed();
            let block = match state.blocks.get(caller, key, now)? {
                State::Coming => {
                    shared.arrived.wait(&mut state);
                    continue;
                }
                State::Here(block) => block.clone(),
            };
            match state.blocks.is_current(&key.0, &block, now, state.believed) {
                Some(true) => return Some(block),
                Some(false) => {
                    state.blocks.remove(key);
                    return None;
                }
                None => {
                    let asked = || shared.inner.attributes(caller, &key.0);
                    let Ok(attributes) = MutexGuard::unlocked(&mut state, asked) else { return None };
                    state.blocks.validate(&key.0, &attributes, (now, shared.start.elapsed()));
                    return block.is_of(&attributes).then_some(block);
                }
            }
        }
    }

    /// What blocks hold of a range, from its start on: the bytes, whether they reach the end of the file, and the last
    /// block that was used.
    fn gather(&self, caller: &Caller, node: &Handle, range: &Range<u64>) -> Option<(Vec<Bytes>, Block)> {
        let size = self.shared.options.block as u64;
        let (mut at, mut pieces, mut last) = (range.start, Vec::new(), None);
        while at < range.end {
            let key = (*node, at / size);
            let Some(block) = self.block(caller, &key) else { break };
            let from = usize::try_from(at % size).ok()?;
            let room = usize::try_from(range.end - at).ok()?;
            if from >= block.bytes.len() {
                break;
            }
            let piece = block.bytes.slice(from..block.bytes.len().min(from + room));
            at += piece.len() as u64;
            let (used_up, end) = (from + piece.len() == block.bytes.len(), block.end);
            self.shared.state.lock().blocks.gave(&key, piece.len());
            pieces.push(piece);
            last = Some(Block { end: end && used_up, ..block });
            if end {
                break;
            }
        }
        last.map(|last| (pieces, last))
    }

    /// A file that is like this will be read: its first read goes ahead at once.
    pub fn opened(&self, node: &Handle, attributes: &Attributes) {
        let now = self.shared.start.elapsed();
        let mut state = self.shared.state.lock();
        if state.blocks.size(node).is_none() {
            state.blocks.validate(node, attributes, (now, now));
        }
    }

    /// A call that began at `asked` returned what a file is like: blocks that were fetched before it became so are dropped. Of
    /// a file that nobody reads nothing is remembered.
    fn told(&self, node: &Handle, attributes: &Attributes, asked: Duration) {
        let now = self.shared.start.elapsed();
        let mut state = self.shared.state.lock();
        if state.blocks.size(node).is_some() {
            state.blocks.validate(node, attributes, (asked, now));
        }
    }

    /// Makes a call that changes what a file holds.
    fn changing<T>(&self, node: &Handle, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let outcome = run(&*self.shared.inner);
        self.forget(node);
        outcome
    }

    /// A file changed through us.
    fn forget(&self, node: &Handle) {
        let mut state = self.shared.state.lock();
        state.blocks.forget(node);
        state.streams.forget(node);
        drop(state);
        // Wakes readers that wait for a block that will not come.
        self.shared.arrived.notify_all();
    }
}

impl Layer for ReadAhead {
    fn inner(&self) -> &dyn FileSystem {
        &*self.shared.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.shared.inner)
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let since = self.shared.start.elapsed();
        let attributes = self.shared.inner.attributes(caller, node)?;
        self.told(node, &attributes, since);
        Ok(attributes)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let since = self.shared.start.elapsed();
        let found = self.shared.inner.lookup(caller, directory, name)?;
        self.told(&found.node.handle, &found.node.attributes, since);
        Ok(found)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let since = self.shared.start.elapsed();
        let answer = self.shared.inner.access(caller, node, wanted)?;
        self.told(node, &answer.1, since);
        Ok(answer)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let since = self.shared.start.elapsed();
        self.shared.inner.read_directory(caller, list, &mut |entry| {
            if let Some(node) = entry.node {
                self.told(&node.handle, &node.attributes, since);
            }
            sink(entry)
        })
    }

    fn read(
        &self,
        caller: &Caller,
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let range = offset..offset.saturating_add(count as u64);
        // What is read next, and this read where it follows others, is fetched in blocks: so reads that are under way at the
        // same time share them.
        let size = self.shared.state.lock().blocks.size(node);
        if let Some(size) = size {
            self.look_ahead(caller, node, &range, offset, size);
        }
        let read = match self.gather(caller, node, &range) {
            Some(found) => {
                self.shared.hits.fetch_add(1, Ordering::Relaxed);
                self.shared.join(caller, node, range, found, buffer)?
            }
            None => {
                self.shared.misses.fetch_add(1, Ordering::Relaxed);
                let asked = self.shared.start.elapsed();
                let read = self.shared.inner.read(caller, ReadFile { node, offset, count }, buffer)?;
                let times = (asked, self.shared.start.elapsed());
                self.shared.state.lock().blocks.validate(node, &read.attributes, times);
                read
            }
        };
        if size.is_none() {
            let end = offset.saturating_add(read.content.len() as u64);
            self.look_ahead(caller, node, &(offset..end), end, read.attributes.size);
        }
        Ok(read)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.changing(write.node, |inner| inner.write(caller, write, change))
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        let node = self.shared.inner.create(caller, create, change)?;
        // It may have been there, and be empty now.
        self.forget(&node.handle);
        Ok(node)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.changing(set.node, |inner| inner.set_attributes(caller, set, change))
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.changing(extent.node, |inner| inner.require_ranges()?.allocate(caller, extent, change))
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.changing(extent.node, |inner| inner.require_ranges()?.deallocate(caller, extent, change))
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        self.changing(copy.to.0, |inner| inner.require_ranges()?.copy_range(caller, copy, change))
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        self.changing(copy.to.0, |inner| inner.require_ranges()?.clone_range(caller, copy, change))
    }

    /// What others wrote before they unlocked is asked for again.
    fn lock_range(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
        waits: bool,
    ) -> Result<Option<FileLock>> {
        let conflict =
            self.shared.inner.require_file_locks()?.lock_range(caller, node, owner, lock, waits)?;
        if conflict.is_none() {
            self.forget(node);
        }
        Ok(conflict)
    }
}

impl ReadAheadOptions {
    fn bounds(&self) -> Bounds {
        Bounds {
            ceiling: self.in_flight,
            memory_budget: self.memory_budget,
            expected: self.expected,
            ..Bounds::default()
        }
    }
}

impl Fetch {
    fn run(self) {
        let shared = &self.shared;
        let at = shared.start.elapsed();
        let started = shared.state.lock().flight.on_start(at, self.count);
        let read = shared.read_block(&self.caller, &self.key, self.count);
        let now = shared.start.elapsed();
        let mut state = shared.state.lock();
        match &read {
            Ok((bytes, ..)) => state.flight.on_finish(now, started, bytes.len()),
            Err(_) => state.flight.on_give_up(),
        }
        // A block that is not whole is one at the end of its file.
        let is_whole = |bytes: &Bytes, end| end || bytes.len() == shared.options.block;
        let block = read.ok().filter(|(bytes, end, _)| is_whole(bytes, *end));
        let block = block.map(|(bytes, end, attributes)| Block { bytes, end, attributes });
        let attributes = block.as_ref().map(|block| block.attributes);
        shared.fetched.fetch_add(1, Ordering::Relaxed);
        // The file changed meanwhile: readers ask again.
        if state.blocks.arrive(&self.key, self.number, block)
            && let Some(attributes) = attributes
        {
            state.blocks.validate(&self.key.0, &attributes, (at, now));
        }
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        // Has no effect on a block that has come.
        if let Some(State::Coming) = state.blocks.get(&self.caller, &self.key, self.shared.start.elapsed()) {
            state.blocks.arrive(&self.key, self.number, None);
        }
        drop(state);
        self.shared.arrived.notify_all();
    }
}

impl Shared {
    /// The answer to a read of which pieces are here: one alone is given as it is, several are put together, and what is
    /// missing at the end is read.
    fn join(
        &self,
        caller: &Caller,
        node: &Handle,
        range: Range<u64>,
        (mut pieces, last): (Vec<Bytes>, Block),
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let length: usize = pieces.iter().map(Bytes::len).sum();
        let (whole, attributes) = (range.start + length as u64 == range.end || last.end, last.attributes);
        if whole && pieces.len() == 1 {
            let content = Content::Bytes(pieces.remove(0));
            return Ok(ReadOutcome { content, end: last.end, attributes });
        }
        pieces.iter().for_each(|piece| buffer.extend_from_slice(piece));
        if whole {
            return Ok(ReadOutcome { content: Content::Appended(length), end: last.end, attributes });
        }
        let at = range.start + length as u64;
        let missing = usize::try_from(range.end - at).map_err(|_| FsError::Invalid)?;
        let rest = self.inner.read(caller, ReadFile::new(node, at, missing), buffer)?;
        append(&rest.content, buffer)?;
        Ok(ReadOutcome { content: Content::Appended(length + rest.content.len()), ..rest })
    }

    fn read_block(&self, caller: &Caller, key: &Key, count: usize) -> Result<(Bytes, bool, Attributes)> {
        let offset = key.1.checked_mul(self.options.block as u64).ok_or(FsError::TooBig)?;
        let mut buffer = Vec::with_capacity(count);
        let read = self.inner.read(caller, ReadFile::new(&key.0, offset, count), &mut buffer)?;
        let bytes = match &read.content {
            Content::Appended(_) => Bytes::from(buffer),
            Content::Bytes(bytes) => bytes.clone(),
            Content::File(_) => {
                append(&read.content, &mut buffer)?;
                Bytes::from(buffer)
            }
        };
        Ok((bytes, read.end, read.attributes))
    }
}

/// Appends content that the file system did not append itself.
fn append(content: &Content, buffer: &mut Vec<u8>) -> Result<()> {
    match content {
        Content::Appended(_) => {}
        Content::Bytes(bytes) => buffer.extend_from_slice(bytes),
        Content::File(range) => match range.append_to(buffer) {
            Ok(read) if read == range.length => {}
            // Cut meanwhile: what was promised is not there.
            _ => return Err(FsError::Io),
        },
    }
    Ok(())
}
