//! Receive buffers: in three sizes, shared by the records that lie in them, and used again when the last is done.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Holds the start of a record of a peer that is slow: what 5,000 such peers cost is 5,000 of these.
const SMALL: usize = 4 << 10;
/// Takes a burst of small calls in one receive, or a WRITE of 64 KiB with its header: not a large one for each of those.
const MEDIUM: usize = 68 << 10;
/// How many of each size all workers keep together; a large one is over a megabyte.
const STORED: [usize; 3] = [64, 64, 8];

/// Memory that is received into while nobody else looks, and shared by the records found in it afterwards.
#[derive(Debug)]
pub struct Buffer {
    bytes: Box<[u8]>,
}

/// One whole record, without its marks: a call.
#[derive(Debug, Clone)]
pub struct Record {
    buffer: Arc<Buffer>,
    range: Range<usize>,
}

/// Buffers that wait to be used again: one of a worker's own, for which no lock is taken, and behind it those that all share.
#[derive(Debug)]
pub struct BufferPool {
    /// Of medium size: what is received into, and is done when its calls are.
    own: Option<Arc<Buffer>>,
    store: Arc<BufferStore>,
}

/// What all workers keep together. A connection's buffers come from the worker that receives and end with the one that runs the last of
/// their calls: were all of them kept there, each worker would hold as much in the long run as one may ever need.
#[derive(Debug)]
pub struct BufferStore {
    record_max: usize,
    /// Small, medium and large ones.
    shelves: [Mutex<Shelf>; 3],
}

/// Buffers of one size. The one that was put there last is taken first.
#[derive(Debug, Default)]
struct Shelf {
    buffers: Vec<Arc<Buffer>>,
    /// How many there were at least since it was last looked for those that nobody needs.
    least: usize,
}

impl Buffer {
    /// A buffer of this many bytes. Zeroed memory of this size comes from the kernel untouched: it costs address
    /// space until something is received into it.
    fn with_size(size: usize) -> Arc<Self> {
        Arc::new(Self { bytes: vec![0; size].into_boxed_slice() })
    }

    /// A buffer that holds these bytes.
    pub fn from_bytes(bytes: Box<[u8]>) -> Arc<Self> {
        Arc::new(Self { bytes })
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it, to receive into.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Record {
    /// The record in this range of a buffer.
    pub fn new(buffer: Arc<Buffer>, range: Range<usize>) -> Self {
        Self { buffer, range }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[self.range.clone()]
    }

    /// Ends the record; gives its buffer back if nobody else uses it.
    pub fn into_buffer(self) -> Arc<Buffer> {
        self.buffer
    }
}

impl BufferStore {
    /// One whose largest buffers hold a record of `record_max` bytes.
    pub fn new(record_max: usize) -> Arc<Self> {
        Arc::new(Self { record_max, shelves: Default::default() })
    }

    /// Frees what nobody has needed since this was called last.
    pub fn free_unneeded(&self) {
        for shelf in &self.shelves {
            // To free a large one is a system call: nobody waits for that.
            let unneeded = locked(shelf).take_unneeded();
            drop(unneeded);
        }
    }

    /// The sizes that are kept.
    fn sizes(&self) -> [usize; 3] {
        [SMALL, MEDIUM, self.record_max + MEDIUM]
    }

    fn take(&self, place: usize) -> Arc<Buffer> {
        let kept = locked(&self.shelves[place]).take();
        kept.unwrap_or_else(|| Buffer::with_size(self.sizes()[place]))
    }

    /// Keeps a buffer, unless there are so many, or it is of no size that is kept.
    fn put(&self, buffer: Arc<Buffer>) {
        let Some(place) = self.sizes().iter().position(|&size| size == buffer.size()) else { return };
        let mut shelf = locked(&self.shelves[place]);
        if shelf.buffers.len() < STORED[place] {
            shelf.buffers.push(buffer);
        }
    }
}

impl Shelf {
    fn take(&mut self) -> Option<Arc<Buffer>> {
        let taken = self.buffers.pop();
        self.least = self.least.min(self.buffers.len());
        taken
    }

    fn take_unneeded(&mut self) -> Vec<Arc<Buffer>> {
        let unneeded = self.buffers.drain(..self.least).collect();
        self.least = self.buffers.len();
        unneeded
    }
}

impl BufferPool {
    /// A worker's, which shares what others keep there.
    pub fn sharing(store: Arc<BufferStore>) -> Self {
        Self { own: None, store }
    }

    /// One that shares with nobody, and whose largest buffers hold a record of `record_max` bytes.
    pub fn new(record_max: usize) -> Self {
        Self::sharing(BufferStore::new(record_max))
    }

    /// A buffer of at least `wanted` bytes, or of the largest size.
    pub fn take(&mut self, wanted: usize) -> Arc<Buffer> {
        if wanted <= SMALL {
            self.store.take(0)
        } else if wanted <= MEDIUM {
            self.own.take().unwrap_or_else(|| self.store.take(1))
        } else {
            self.store.take(2)
        }
    }

    /// Takes a buffer back, if nobody uses it any more and it is wanted.
    pub fn put(&mut self, mut buffer: Arc<Buffer>) {
        if Arc::get_mut(&mut buffer).is_none() {
            return;
        }
        if self.own.is_none() && buffer.size() == MEDIUM {
            self.own = Some(buffer);
        } else {
            self.store.put(buffer);
        }
    }

    /// The size that a burst of small calls is received into.
    pub const fn usual_size() -> usize {
        MEDIUM
    }

    /// The size that the start of a slow peer's record is kept in.
    pub const fn smallest_size() -> usize {
        SMALL
    }
}

/// A thread that had it and panicked left it as it was: one is pushed or popped.
fn locked<T>(shelf: &Mutex<T>) -> MutexGuard<'_, T> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(store: &BufferStore) -> [usize; 3] {
        [0, 1, 2].map(|place| locked(&store.shelves[place]).buffers.len())
    }

    /// Buffers that come from one worker and end with another go round, and do not pile up with it.
    #[test]
    fn what_ends_with_another_worker_comes_back() {
        const RUN: usize = 32;
        let store = BufferStore::new(1 << 20);
        let mut receives = BufferPool::sharing(Arc::clone(&store));
        let mut runs: Vec<_> = (0..RUN).map(|_| BufferPool::sharing(Arc::clone(&store))).collect();
        for (wanted, own) in [(SMALL, 0), (MEDIUM, RUN), (1 << 20, 0)] {
            let mut made = std::collections::HashSet::new();
            for turn in 0..10_000 {
                let buffer = receives.take(wanted);
                made.insert(Arc::as_ptr(&buffer) as usize);
                runs[turn % RUN].put(buffer);
            }
            assert!(made.len() <= own + 1, "{} buffers of {wanted}", made.len());
        }
        assert_eq!(kept(&store), [1; 3], "those that go round");
        for size in store.sizes() {
            (0..1_000).for_each(|_| runs[0].put(Buffer::with_size(size)));
        }
        assert_eq!(kept(&store), STORED);
    }

    #[test]
    fn what_nobody_needs_is_freed() {
        let store = BufferStore::new(1 << 20);
        let mut pool = BufferPool::sharing(Arc::clone(&store));
        for wanted in store.sizes() {
            let many: Vec<_> = (0..6).map(|_| pool.take(wanted)).collect();
            many.into_iter().for_each(|buffer| pool.put(buffer));
        }
        assert_eq!(kept(&store), [6, 5, 6], "one is the worker's own");
        store.free_unneeded();
        assert_eq!(kept(&store), [6, 5, 6], "all were needed of late");
        let large = [pool.take(1 << 20), pool.take(1 << 20)];
        large.into_iter().for_each(|buffer| pool.put(buffer));
        store.free_unneeded();
        assert_eq!(kept(&store), [0, 0, 2]);
        store.free_unneeded();
        assert_eq!(kept(&store), [0; 3]);
    }
}
