//! Receive buffers: in three sizes, shared by the records that lie in them, and used again when the last is done.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Holds the start of a record of a peer that is slow: what 5,000 such peers cost is 5,000 of these.
const SMALL: usize = 4 << 10;
/// Takes a burst of small calls in one receive.
const MEDIUM: usize = 64 << 10;
/// How many small buffers a worker keeps for later: many connections at rest have one each.
const KEPT_SMALL: usize = 16;
/// How many medium ones: the one that it receives into, and the one whose calls it runs.
const KEPT_MEDIUM: usize = 2;
/// How many medium ones all workers keep together besides.
const STORED_MEDIUM: usize = 64;
/// How many large ones all workers keep together: each is over a megabyte.
const STORED_LARGE: usize = 8;

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

/// Buffers that wait to be used again: a few of a worker's own, for which no lock is taken, and behind them those that all share.
#[derive(Debug)]
pub struct BufferPool {
    small: Vec<Arc<Buffer>>,
    medium: Vec<Arc<Buffer>>,
    store: Arc<BufferStore>,
}

/// What all workers keep together. A connection's buffers come from the worker that receives and end with the one that runs the last of
/// their calls: were all of them kept there, each worker would hold as much in the long run as one may ever need.
#[derive(Debug)]
pub struct BufferStore {
    record_max: usize,
    medium: Mutex<Vec<Arc<Buffer>>>,
    large: Mutex<Vec<Arc<Buffer>>>,
}

impl Buffer {
    /// A buffer of this many bytes. Zeroed memory of this size comes from the kernel untouched: it costs address
    /// space until something is received into it.
    fn with_size(size: usize) -> Arc<Self> {
        Arc::new(Self { bytes: vec![0; size].into_boxed_slice() })
    }

    /// A buffer that holds these bytes.
    pub(super) fn from_bytes(bytes: Box<[u8]>) -> Arc<Self> {
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
        Arc::new(Self { record_max, medium: Mutex::default(), large: Mutex::default() })
    }

    fn large_size(&self) -> usize {
        self.record_max + MEDIUM
    }
}

impl BufferPool {
    /// A worker's, which shares what others keep there.
    pub fn sharing(store: Arc<BufferStore>) -> Self {
        Self { small: Vec::new(), medium: Vec::new(), store }
    }

    /// One that shares with nobody, and whose largest buffers hold a record of `record_max` bytes.
    pub fn new(record_max: usize) -> Self {
        Self::sharing(BufferStore::new(record_max))
    }

    /// A buffer of at least `wanted` bytes, or of the largest size.
    pub fn take(&mut self, wanted: usize) -> Arc<Buffer> {
        let (kept, size) = if wanted <= SMALL {
            (self.small.pop(), SMALL)
        } else if wanted <= MEDIUM {
            (self.medium.pop().or_else(|| locked(&self.store.medium).pop()), MEDIUM)
        } else {
            (locked(&self.store.large).pop(), self.store.large_size())
        };
        kept.unwrap_or_else(|| Buffer::with_size(size))
    }

    /// Takes a buffer back, if nobody uses it any more and it is wanted.
    pub fn put(&mut self, mut buffer: Arc<Buffer>) {
        if Arc::get_mut(&mut buffer).is_none() {
            return;
        }
        match buffer.size() {
            SMALL => keep(&mut self.small, buffer, KEPT_SMALL),
            MEDIUM if self.medium.len() < KEPT_MEDIUM => self.medium.push(buffer),
            MEDIUM => keep(&mut locked(&self.store.medium), buffer, STORED_MEDIUM),
            size if size == self.store.large_size() => {
                keep(&mut locked(&self.store.large), buffer, STORED_LARGE);
            }
            _ => {}
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

/// Keeps a buffer, unless there are so many.
fn keep(shelf: &mut Vec<Arc<Buffer>>, buffer: Arc<Buffer>, most: usize) {
    if shelf.len() < most {
        shelf.push(buffer);
    }
}

/// Whoever had it and panicked left it as it was: one is pushed or popped.
fn locked<T>(shelf: &Mutex<T>) -> MutexGuard<'_, T> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers that come from one worker and end with another go round, and do not pile up with it.
    #[test]
    fn what_ends_with_another_worker_comes_back() {
        let store = BufferStore::new(1 << 20);
        let mut receives = BufferPool::sharing(Arc::clone(&store));
        let mut runs: Vec<_> = (0..32).map(|_| BufferPool::sharing(Arc::clone(&store))).collect();
        for wanted in [MEDIUM, 1 << 20] {
            let mut made = std::collections::HashSet::new();
            for turn in 0..10_000 {
                let buffer = receives.take(wanted);
                made.insert(Arc::as_ptr(&buffer) as usize);
                runs[turn % 32].put(buffer);
            }
            assert!(made.len() <= 32 * KEPT_MEDIUM + 1, "{} buffers of {wanted}", made.len());
            let shelf = if wanted == MEDIUM { &store.medium } else { &store.large };
            assert_eq!(locked(shelf).len(), 1, "the one of {wanted} that goes round");
        }
        let many: Vec<_> = (0..1_000).map(|_| receives.take(1 << 20)).collect();
        many.into_iter().for_each(|buffer| runs[0].put(buffer));
        (0..1_000).for_each(|_| runs[0].put(Buffer::with_size(MEDIUM)));
        assert_eq!(locked(&store.large).len(), STORED_LARGE);
        assert_eq!((locked(&store.medium).len(), runs[0].medium.len()), (STORED_MEDIUM, KEPT_MEDIUM));
    }
}
