//! Data that waits to be written to the disk. Knows no disk.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use super::secret::NodeKey;

/// Bytes that may wait; of more, what comes is not kept.
const BYTES_MAX: usize = 64 << 20;
/// In so many parts at most: each change of ours looks through all.
const PUTS_MAX: usize = 1024;

/// Data to write.
pub struct Put {
    /// Of which file, and which number that has.
    pub key: NodeKey,
    /// See `key`.
    pub id: u64,
    /// Where it begins in the file, in bytes: at a piece.
    pub offset: u64,
    /// Whole pieces, and the last of the file if they reach its end.
    pub bytes: Bytes,
    /// Whether this is all of the file.
    pub is_whole: bool,
}

/// All that waits, and what is being written.
#[derive(Default)]
pub struct PutQueue {
    puts: VecDeque<Put>,
    bytes: usize,
    running: Option<Running>,
}

struct Running {
    key: NodeKey,
    range: Range<u64>,
    counts: bool,
}

impl Put {
    fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes.len() as u64
    }
}

impl PutQueue {
    /// Whether there is room for so many more bytes.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.bytes + bytes <= BYTES_MAX && self.puts.len() < PUTS_MAX
    }

    /// Takes data, if there is room.
    pub fn offer(&mut self, put: Put) {
        if self.has_room(put.bytes.len()) {
            self.bytes += put.bytes.len();
            self.puts.push_back(put);
        }
    }

    /// The next to be written: [`finish`](Self::finish) must follow.
    pub fn start(&mut self) -> Option<Put> {
        let put = self.puts.pop_front()?;
        self.bytes -= put.bytes.len();
        self.running = Some(Running { key: put.key, range: put.range(), counts: true });
        Some(put)
    }

    /// It was written; says whether it still counts.
    pub fn finish(&mut self) -> bool {
        self.running.take().is_some_and(|running| running.counts)
    }

    /// These bytes of a file will be others.
    pub fn cancel(&mut self, key: &NodeKey, bytes: &Range<u64>) {
        let overlaps = |of: &NodeKey, range: &Range<u64>| {
            of == key && range.start < bytes.end && bytes.start < range.end
        };
        if self.puts.iter().any(|put| overlaps(&put.key, &put.range())) {
            self.puts.retain(|put| !overlaps(&put.key, &put.range()));
            self.bytes = self.puts.iter().map(|put| put.bytes.len()).sum();
        }
        if let Some(running) = self.running.as_mut().filter(|one| overlaps(&one.key, &one.range)) {
            running.counts = false;
        }
    }

    /// Whether nothing waits or is being written.
    pub fn is_idle(&self) -> bool {
        self.puts.is_empty() && self.running.is_none()
    }

    /// Drops all that waits.
    pub fn clear(&mut self) {
        (self.puts, self.bytes) = (VecDeque::new(), 0);
        if let Some(running) = &mut self.running {
            running.counts = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: u8, offset: u64, length: usize) -> Put {
        let bytes = Bytes::from(vec![0; length]);
        Put { key: NodeKey::new([key; 16]), id: 0, offset, bytes, is_whole: false }
    }

    #[test]
    fn what_is_cancelled_does_not_count_whether_it_waits_or_is_being_written() {
        let mut queue = PutQueue::default();
        for (key, offset) in [(1, 0), (1, 10), (2, 10), (1, 20)] {
            queue.offer(put(key, offset, 10));
        }
        assert!(queue.start().is_some_and(|put| put.offset == 0));
        queue.cancel(&NodeKey::new([1; 16]), &(9..11));
        assert!(!queue.finish(), "it was being written");
        for (key, offset) in [(2, 10), (1, 20)] {
            let put = queue.start().expect("left");
            assert_eq!((put.key.as_bytes()[0], put.offset), (key, offset));
            assert!(queue.finish());
        }
        assert!(queue.is_idle() && queue.bytes == 0);
    }

    #[test]
    fn only_so_many_bytes_wait() {
        let mut queue = PutQueue::default();
        (0..100).for_each(|number| queue.offer(put(1, number << 20, 1 << 20)));
        assert_eq!(queue.bytes, BYTES_MAX);
        queue.clear();
        assert!(queue.is_idle());
    }
}
