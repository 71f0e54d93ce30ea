//! Who reads which file in sequence, and how far ahead it is worth to read. Knows no file system and no clock.

use std::collections::HashMap;
use std::ops::Range;

use howdah_vfs::Handle;

/// Files whose reading is followed at a time; of more, those that were read least lately are forgotten.
const STREAMS_MAX: usize = 256;
/// Blocks read ahead when a sequence has just been recognised; twice as many with each further read, up to what the
/// path takes.
const FIRST: u64 = 2;

/// The files that are being read in sequence.
#[derive(Default)]
pub struct Streams {
    streams: HashMap<Handle, Stream>,
    used: u64,
}

struct Stream {
    /// Where the next read of a sequence starts, in bytes.
    next: u64,
    /// How many blocks are read ahead.
    window: u64,
    /// The first block that was not asked for yet.
    asked: u64,
    used: u64,
}

impl Streams {
    /// These bytes of a file of `size` bytes were read: which blocks of `block` bytes are to be fetched now, if at most
    /// `most` are wanted ahead.
    pub fn on_read(
        &mut self,
        node: &Handle,
        read: &Range<u64>,
        size: u64,
        block: u64,
        most: u64,
    ) -> Range<u64> {
        self.used += 1;
        let used = self.used;
        if self.streams.len() >= STREAMS_MAX && !self.streams.contains_key(node) {
            self.forget_oldest();
        }
        // The start of a file is taken for the start of a sequence.
        let stream = self.streams.entry(*node).or_insert(Stream { next: 0, window: 0, asked: 0, used });
        stream.used = used;
        if read.start != stream.next {
            *stream = Stream { next: read.end, window: 0, asked: 0, used };
            return 0..0;
        }
        stream.next = read.end;
        stream.window = (stream.window * 2).max(FIRST).min(most);
        let here = read.end.div_ceil(block);
        let wanted = stream.asked.max(here)..(here + stream.window).min(size.div_ceil(block));
        stream.asked = stream.asked.max(wanted.end);
        wanted
    }

    /// The end of a file was seen, or what was read ahead is worth nothing any more.
    pub fn forget(&mut self, node: &Handle) {
        self.streams.remove(node);
    }

    fn forget_oldest(&mut self) {
        let oldest = self.streams.iter().min_by_key(|(_, stream)| stream.used).map(|(node, _)| *node);
        if let Some(node) = oldest {
            self.streams.remove(&node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8) -> Handle {
        Handle::new(&[number]).expect("short")
    }

    #[test]
    fn a_sequence_is_read_ahead_once_and_further_each_time() {
        let mut streams = Streams::default();
        let mut read = |offset: u64| streams.on_read(&node(1), &(offset..offset + 10), 530, 10, 8);
        assert_eq!(read(0), 1..3);
        assert_eq!(read(10), 3..6);
        assert_eq!(read(20), 6..11);
        assert_eq!(read(30), 11..12, "no more than was asked for");
        assert_eq!(read(500), 0..0, "a jump");
        assert_eq!(read(510), 52..53, "and a sequence again, up to the end of the file");
    }

    #[test]
    fn small_reads_within_a_block_ask_for_it_once() {
        let mut streams = Streams::default();
        let mut read = |offset: u64| streams.on_read(&node(1), &(offset..offset + 4), 1000, 8, 1);
        assert_eq!(read(0), 1..2);
        assert!(read(4).is_empty());
        assert_eq!(read(8), 2..3);
    }

    #[test]
    fn only_so_many_files_are_followed() {
        let mut streams = Streams::default();
        for number in 0..2 * STREAMS_MAX as u64 {
            streams.on_read(&Handle::new(&number.to_be_bytes()).expect("short"), &(0..1), 1, 1, 1);
            assert!(streams.streams.len() <= STREAMS_MAX);
        }
    }
}
