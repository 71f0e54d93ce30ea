//! Memory of blocks that wait to be written, kept for the next ones: fresh memory costs as much as filling it.

use bytes::Bytes;
use parking_lot::Mutex;

use super::side::reclaim;

/// The most that is kept: what waits to be written of a few files.
const SPARE_MAX: usize = 32;

/// Spare buffers.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// One with memory, if there is one.
    pub(super) fn take(&self) -> Vec<u8> {
        self.0.lock().pop().unwrap_or_default()
    }

    /// The memory of these bytes is of use again, if nobody else has them.
    pub(super) fn give_back(&self, bytes: Bytes) {
        let mut buffer = Vec::new();
        reclaim(bytes, &mut buffer);
        let mut spare = self.0.lock();
        if buffer.capacity() > 0 && spare.len() < SPARE_MAX {
            spare.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_bounded() {
        let buffers = Buffers::default();
        assert_eq!(buffers.take().capacity(), 0);
        let bytes = Bytes::from(vec![1; 4096]);
        let place = bytes.as_ptr();
        buffers.give_back(bytes);
        let buffer = buffers.take();
        assert_eq!((buffer.as_ptr(), buffer.len(), buffer.capacity()), (place, 0, 4096));
        (0..100).for_each(|_| buffers.give_back(Bytes::from(vec![1; 10])));
        assert_eq!(buffers.0.lock().len(), SPARE_MAX);
    }
}
