//! Receive buffers: in three sizes, shared by the records that lie in them, and used again when the last is done.

use std::ops::Range;
use std::sync::Arc;

/// Holds the start of a record of a peer that is slow: what 5,000 such peers cost is 5,000 of these.
const SMALL: usize = 4 << 10;
/// Takes a burst of small calls in one receive.
const MEDIUM: usize = 64 << 10;
/// How many small and medium buffers are kept for later.
const KEPT: usize = 16;
/// How many large ones: each is over a megabyte, and each worker keeps its own.
const KEPT_LARGE: usize = 2;

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

/// Buffers that wait to be used again. Each worker has its own, so that no lock is taken.
#[derive(Debug)]
pub struct BufferPool {
    record_max: usize,
    small: Vec<Arc<Buffer>>,
    medium: Vec<Arc<Buffer>>,
    large: Vec<Arc<Buffer>>,
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

impl BufferPool {
    /// A pool whose largest buffers hold a record of `record_max` bytes.
    pub fn new(record_max: usize) -> Self {
        Self { record_max, small: Vec::new(), medium: Vec::new(), large: Vec::new() }
    }

    /// A buffer of at least `wanted` bytes, or of the largest size.
    pub fn take(&mut self, wanted: usize) -> Arc<Buffer> {
        let (kept, size) = if wanted <= SMALL {
            (&mut self.small, SMALL)
        } else if wanted <= MEDIUM {
            (&mut self.medium, MEDIUM)
        } else {
            (&mut self.large, Self::large_size(self.record_max))
        };
        kept.pop().unwrap_or_else(|| Buffer::with_size(size))
    }

    /// Takes a buffer back, if nobody uses it any more and it is wanted.
    pub fn put(&mut self, mut buffer: Arc<Buffer>) {
        if Arc::get_mut(&mut buffer).is_none() {
            return;
        }
        let (kept, most) = match buffer.size() {
            SMALL => (&mut self.small, KEPT),
            MEDIUM => (&mut self.medium, KEPT),
            size if size == Self::large_size(self.record_max) => (&mut self.large, KEPT_LARGE),
            _ => return,
        };
        if kept.len() < most {
            kept.push(buffer);
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

    fn large_size(record_max: usize) -> usize {
        record_max + MEDIUM
    }
}
