//! Blocks of one file that were read and wait to be written by one worker, where several would only wait for each other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::{Condvar, Mutex};

/// The most blocks that wait while somebody writes: enough that one is always there, and few enough that they are still in the
/// processor's caches when they are written. Who has read more waits, which is what slows the source down.
const WAITING_MAX: usize = 4;

/// A block with its data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) range: Range<u64>,
    pub(super) bytes: Bytes,
}

/// What waits to be written. The thread that puts something in while nobody writes is the writer, until nothing is left.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    has_room: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By where they begin: storage likes its data in order.
    waiting: BTreeMap<u64, Block>,
    has_writer: bool,
}

impl Outbox {
    /// Puts a block in, and waits while there are too many, which it notes in `was_full`. Returns whether the caller is the
    /// writer now.
    pub(super) fn put(&self, block: Block, was_full: &AtomicBool) -> bool {
        let mut state = self.state.lock();
        state.waiting.insert(block.range.start, block);
        if !std::mem::replace(&mut state.has_writer, true) {
            return true;
        }
        while state.waiting.len() > WAITING_MAX {
            was_full.store(true, Ordering::Relaxed);
            self.has_room.wait(&mut state);
        }
        false
    }

    /// For the writer: the next block to write. Without one it is the writer no more.
    pub(super) fn next(&self) -> Option<Block> {
        let mut state = self.state.lock();
        let block = state.waiting.pop_first().map(|(_, block)| block);
        state.has_writer = block.is_some();
        if state.waiting.len() == WAITING_MAX {
            self.has_room.notify_all();
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use super::*;

    static FULL: AtomicBool = AtomicBool::new(false);

    fn block(number: u64) -> Block {
        Block { range: number * 4..number * 4 + 4, bytes: Bytes::from(vec![0; 4]) }
    }

    #[test]
    fn the_first_to_come_writes_and_all_is_written_in_order() {
        let outbox = Outbox::default();
        assert!(outbox.put(block(3), &FULL));
        assert!(!outbox.put(block(2), &FULL) && !outbox.put(block(1), &FULL));
        let order: Vec<u64> = std::iter::from_fn(|| outbox.next()).map(|block| block.range.start).collect();
        assert_eq!(order, [4, 8, 12]);
        assert!(outbox.put(block(4), &FULL), "there was no writer any more");
    }

    #[test]
    fn many_readers_never_have_more_than_the_bound_waiting_nor_two_writers() {
        const EACH: u64 = 200;
        const READERS: u64 = 8;
        let (outbox, is_writing) = (Outbox::default(), AtomicBool::new(false));
        let written = AtomicU64::new(0);
        thread::scope(|scope| {
            for reader in 0..READERS {
                let (outbox, is_writing, written) = (&outbox, &is_writing, &written);
                scope.spawn(move || {
                    for number in 0..EACH {
                        let writes = outbox.put(block(number * READERS + reader), &FULL);
                        while writes && outbox.next().is_some() {
                            assert!(!is_writing.swap(true, Ordering::SeqCst));
                            assert!(outbox.state.lock().waiting.len() <= WAITING_MAX + READERS as usize);
                            written.fetch_add(1, Ordering::Relaxed);
                            is_writing.store(false, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(written.into_inner(), EACH * READERS);
    }
}
