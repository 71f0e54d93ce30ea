//! Buffers of replies that are gone, kept by a worker for its next ones. A worker takes them for the calls that it runs and gets those of
//! the replies that it sends, which others may have made: what is kept has a bound in bytes, or each worker would have that of the
//! largest listings in the long run. Long ones that are signed or encrypted are kept for all workers together.

use std::sync::Arc;

use parking_lot::Mutex;

/// A larger buffer is freed: beside a listing or a READ that is as long, allocating is cheap.
const SIZE_MAX: usize = 16 << 10;
/// Most that one worker keeps: the small replies of a long burst, or some READs that were copied.
const HELD_MAX: usize = 64 << 10;
/// Room for most replies.
const USUAL: usize = 256;
/// A buffer from this size on is worth keeping for all workers: the kernel gives so much memory page by page, each zeroed.
const LONG_MIN: usize = 128 << 10;
/// A longer one is not kept.
const LONG_MAX: usize = 2 << 20;
/// Long buffers that all workers keep together.
const LONG_KEPT: usize = 8;

/// One worker's.
#[derive(Debug, Default)]
pub struct Spare {
    buffers: Vec<Vec<u8>>,
    held: usize,
    long: Arc<LongBuffers>,
}

/// Long buffers of replies that are gone, for all workers. Of those that nobody needs, the oldest are freed.
#[derive(Debug, Default)]
pub struct LongBuffers(Mutex<LongKept>);

#[derive(Debug, Default)]
struct LongKept {
    buffers: Vec<Vec<u8>>,
    /// How many there were at least since unneeded ones were freed.
    least: usize,
}

impl LongBuffers {
    /// An empty buffer with at least so much room.
    pub fn take(&self, room: usize) -> Vec<u8> {
        let kept = if room < LONG_MIN { None } else { self.0.lock().take() };
        let mut buffer = kept.unwrap_or_default();
        buffer.clear();
        buffer.reserve_exact(room);
        buffer
    }

    /// Keeps a long buffer, if there is room.
    fn put(&self, buffer: Vec<u8>) {
        let mut kept = self.0.lock();
        if (LONG_MIN..=LONG_MAX).contains(&buffer.capacity()) && kept.buffers.len() < LONG_KEPT {
            kept.buffers.push(buffer);
        }
    }

    /// Frees what nobody has needed since this was called last.
    pub fn free_unneeded(&self) {
        let mut kept = self.0.lock();
        let least = kept.least;
        let unneeded: Vec<_> = kept.buffers.drain(..least).collect();
        kept.least = kept.buffers.len();
        drop(kept);
        drop(unneeded);
    }
}

impl LongKept {
    fn take(&mut self) -> Option<Vec<u8>> {
        let taken = self.buffers.pop();
        self.least = self.least.min(self.buffers.len());
        taken
    }
}

impl Spare {
    /// A worker's, which shares long buffers with others.
    pub fn sharing(long: Arc<LongBuffers>) -> Self {
        Self { long, ..Self::default() }
    }

    /// A buffer for a reply; what is in it means nothing.
    pub fn take(&mut self) -> Vec<u8> {
        let Some(buffer) = self.buffers.pop() else { return Vec::with_capacity(USUAL) };
        self.held -= cost(&buffer);
        buffer
    }

    /// Keeps a buffer, unless enough is kept. A long one is kept for all workers.
    pub fn put(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() >= LONG_MIN {
            return self.long.put(buffer);
        }
        let held = self.held + cost(&buffer);
        if buffer.capacity() <= SIZE_MAX && held <= HELD_MAX {
            self.held = held;
            self.buffers.push(buffer);
        }
    }
}

/// What keeping it costs; that of an empty one is not nothing.
fn cost(buffer: &Vec<u8>) -> usize {
    size_of_val(buffer) + buffer.capacity()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(spare: &Spare) -> usize {
        spare.buffers.iter().map(cost).sum()
    }

    #[test]
    fn what_is_kept_is_bounded_in_bytes_whatever_replies_are_sent() {
        let mut spare = Spare::default();
        spare.put(Vec::with_capacity(SIZE_MAX + 1));
        assert_eq!(memory(&spare), 0, "larger than any that is kept");
        for capacity in [0, 1, 200, SIZE_MAX, 128 << 10] {
            (0..5_000).for_each(|_| spare.put(Vec::with_capacity(capacity)));
            assert!(memory(&spare) <= HELD_MAX, "{} bytes", memory(&spare));
            assert_eq!(spare.held, memory(&spare));
            (0..5_000).for_each(|_| drop(spare.take()));
            assert_eq!((spare.held, spare.buffers.len()), (0, 0));
        }
    }

    #[test]
    fn long_buffers_are_used_again_and_freed_when_nobody_needs_them() {
        let long = Arc::new(LongBuffers::default());
        let mut workers = [Spare::sharing(Arc::clone(&long)), Spare::sharing(Arc::clone(&long))];
        let kept = || long.0.lock().buffers.len();
        let taken = long.take(1 << 20);
        let place = taken.as_ptr();
        workers[0].put(taken);
        workers[1].put(vec![0; LONG_MAX + 1]);
        assert_eq!((kept(), long.take(100).capacity()), (1, 100), "too long, and too short");
        let again = long.take(1 << 20);
        assert_eq!(again.as_ptr(), place);
        (0..100).for_each(|_| workers[0].put(Vec::with_capacity(LONG_MIN)));
        assert_eq!(kept(), LONG_KEPT);
        assert_eq!(long.take(LONG_MAX).capacity(), LONG_MAX, "one that was shorter");
        long.free_unneeded();
        assert_eq!(kept(), LONG_KEPT - 1, "these were not there before");
        drop(long.take(LONG_MIN));
        long.free_unneeded();
        assert_eq!(kept(), 0);
    }

    #[test]
    fn a_burst_of_small_replies_finds_its_buffers_again() {
        let mut spare = Spare::default();
        let buffers: Vec<_> = (0..200).map(|_| spare.take()).collect();
        buffers.into_iter().for_each(|buffer| spare.put(buffer));
        assert_eq!(spare.buffers.len(), 200);
    }
}
