//! Who reads which file in sequence, and how far ahead it is worth to read. Knows no file system and no clock.
//!
//! Several readers of one file are distinguished by where they are. Reads of one reader may come out of order, as those of a
//! kernel that has many in flight do. A reader that skips the same distance each time is followed too.

use std::collections::HashMap;
use std::ops::Range;

use howdah_vfs::Handle;

/// Files whose reading is followed at a time; of more, those that were read least lately are forgotten.
const FILES_MAX: usize = 256;
/// Readers of one file that are followed.
const READERS_MAX: usize = 16;
/// Blocks read ahead when a sequence has just been recognised: half of what the path takes, within these bounds. The first block takes
/// six round trips over a new connection, which could carry another meanwhile: with four blocks in all, several connections run dry.
const FIRST: std::ops::RangeInclusive<u64> = 2..=8;
/// So many times as many with each further read, up to what the path takes: each waits for a round trip until then.
const GROWTH: u64 = 8;
/// A read belongs to a reader if it lies no more than so many of its own lengths from where the reader is: so many reads of a
/// Linux client are in flight at a time.
const NEAR: u64 = 16;
/// So often the same distance must be skipped before it is taken for a habit.
const STRIDES: u32 = 2;

/// What is looked at in one read: which bytes are read, from where on they are not here yet, of how large a file, in blocks of
/// which size, and how many blocks may be fetched ahead.
#[derive(Debug, Clone)]
pub struct ReadSeen {
    pub read: Range<u64>,
    pub missing: u64,
    pub size: u64,
    pub block: u64,
    pub most: u64,
}

/// The files that are being read.
#[derive(Default)]
pub struct Streams {
    files: HashMap<Handle, Readers>,
    used: u64,
}

#[derive(Default)]
struct Readers {
    readers: Vec<Reader>,
    used: u64,
    /// Where the read before started, and how far from the one before that; how often it was as far.
    last: u64,
    stride: i128,
    strides: u32,
}

struct Reader {
    /// Up to here it has read, in bytes.
    front: u64,
    /// How many blocks are read ahead.
    window: u64,
    /// The first block that was not asked for yet.
    asked: u64,
    used: u64,
}

impl Streams {
    /// Bytes of a file were read: which blocks are to be fetched now.
    pub fn on_read(&mut self, node: &Handle, seen: &ReadSeen) -> Vec<u64> {
        self.used += 1;
        let used = self.used;
        if self.files.len() >= FILES_MAX && !self.files.contains_key(node) {
            self.forget_oldest();
        }
        // The start of a file is taken for the start of a sequence.
        let start = || Readers {
            readers: vec![Reader { front: 0, window: 0, asked: 0, used }],
            ..Readers::default()
        };
        let file = self.files.entry(*node).or_insert_with(start);
        file.used = used;
        let ahead = file.sequence(seen, used);
        file.follow_strides(seen).unwrap_or(ahead)
    }

    /// What was read ahead is worth nothing any more.
    pub fn forget(&mut self, node: &Handle) {
        self.files.remove(node);
    }

    /// The largest number of blocks that any reader is ahead.
    pub fn depth(&self) -> u64 {
        let readers = self.files.values().flat_map(|file| &file.readers);
        readers.map(|reader| reader.window).max().unwrap_or(0)
    }

    fn forget_oldest(&mut self) {
        let oldest = self.files.iter().min_by_key(|(_, file)| file.used).map(|(node, _)| *node);
        if let Some(node) = oldest {
            self.files.remove(&node);
        }
    }
}

impl Readers {
    fn sequence(&mut self, seen: &ReadSeen, used: u64) -> Vec<u64> {
        let ReadSeen { read, missing, size, block, most } = seen;
        let near = (read.end - read.start).saturating_mul(NEAR);
        let distance = |reader: &Reader| reader.front.abs_diff(read.start);
        let reader =
            self.readers.iter_mut().filter(|reader| distance(reader) <= near).min_by_key(|r| distance(r));
        let Some(reader) = reader else {
            if self.readers.len() >= READERS_MAX {
                let oldest = self.readers.iter().enumerate().min_by_key(|(_, reader)| reader.used);
                let oldest = oldest.map_or(0, |(at, _)| at);
                self.readers.swap_remove(oldest);
            }
            self.readers.push(Reader { front: read.end, window: 0, asked: 0, used });
            return Vec::new();
        };
        reader.used = used;
        if read.end <= reader.front {
            // Overtaken by a later one.
            return Vec::new();
        }
        reader.front = read.end;
        let first = (*most / 2).clamp(*FIRST.start(), *FIRST.end());
        reader.window = (reader.window * GROWTH).max(first).min(*most);
        if *missing >= *size {
            return Vec::new();
        }
        // A block of which a part was read is fetched whole: the rest of it is wanted next.
        let (here, next) = (*missing / *block, read.end.div_ceil(*block));
        let wanted = reader.asked.max(here)..(next + reader.window).min(size.div_ceil(*block));
        reader.asked = reader.asked.max(wanted.end);
        wanted.collect()
    }

    fn follow_strides(&mut self, seen: &ReadSeen) -> Option<Vec<u64>> {
        let ReadSeen { read, size, block, most, .. } = seen;
        let length = i128::from(read.end - read.start);
        let stride = i128::from(read.start) - i128::from(self.last);
        let skips = stride.abs() > length && stride.abs() > i128::from(*block);
        self.strides = if skips && stride == self.stride { self.strides + 1 } else { 0 };
        (self.last, self.stride) = (read.start, stride);
        if self.strides < STRIDES {
            return None;
        }
        let count = (*most).min(FIRST.start() << (self.strides - STRIDES).min(16));
        let places = (1..=i128::from(count)).map(|number| i128::from(read.start) + number * stride);
        let inside = places.filter_map(|place| u64::try_from(place).ok().filter(|place| place < size));
        Some(
            inside
                .flat_map(|place| {
                    place / block..(place + (read.end - read.start)).min(*size).div_ceil(*block)
                })
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8) -> Handle {
        Handle::new(&[number]).expect("short")
    }

    fn seen(read: Range<u64>) -> ReadSeen {
        ReadSeen { missing: read.end, read, size: 530, block: 10, most: 8 }
    }

    #[test]
    fn a_sequence_is_read_ahead_once_and_further_each_time() {
        let mut streams = Streams::default();
        let mut read = |offset: u64| streams.on_read(&node(1), &seen(offset..offset + 10));
        assert_eq!(read(0), [1, 2, 3, 4]);
        assert_eq!(read(10), [5, 6, 7, 8, 9]);
        assert_eq!(read(20), [10], "no more than the path takes");
        assert_eq!(read(30), [11], "no more than was asked for");
        assert_eq!(read(500), [0; 0], "a jump");
        assert_eq!(read(510), [52], "and a sequence again, up to the end of the file");
        let far = ReadSeen { most: 64, ..seen(0..10) };
        assert_eq!(streams.on_read(&node(2), &far), (1..=8).collect::<Vec<_>>(), "far away more at first");
    }

    #[test]
    fn reads_that_overtake_each_other_are_one_sequence() {
        let mut streams = Streams::default();
        let order = [20, 0, 10, 50, 40, 30, 80, 60, 70];
        let fetched: Vec<u64> =
            order.iter().flat_map(|&at| streams.on_read(&node(1), &seen(at..at + 10))).collect();
        assert_eq!(fetched, (3..=16).collect::<Vec<_>>(), "each block once");
    }

    #[test]
    fn readers_of_one_file_do_not_disturb_each_other() {
        let mut streams = Streams::default();
        let mut fetched = [Vec::new(), Vec::new()];
        for step in 0..5 {
            for (reader, start) in [0, 300].into_iter().enumerate() {
                let at = start + step * 10;
                fetched[reader].extend(streams.on_read(&node(1), &seen(at..at + 10)));
            }
        }
        assert_eq!(fetched[0], (1..=12).collect::<Vec<_>>());
        assert_eq!(fetched[1], (32..=42).collect::<Vec<_>>());
    }

    #[test]
    fn who_skips_the_same_distance_each_time_is_followed() {
        let mut streams = Streams::default();
        let mut read = |at: u64| streams.on_read(&node(1), &seen(at..at + 2));
        for at in [100, 140, 180] {
            assert_eq!(read(at), [0; 0]);
        }
        assert_eq!(read(220), [26, 30]);
        assert_eq!(read(260), [30, 34, 38, 42]);
    }

    #[test]
    fn small_reads_within_a_block_ask_for_it_once() {
        let mut streams = Streams::default();
        let mut read = |at: u64| {
            streams.on_read(
                &node(1),
                &ReadSeen { read: at..at + 4, missing: at + 4, size: 1000, block: 8, most: 1 },
            )
        };
        assert_eq!(read(0), [0, 1], "the rest of it is wanted next");
        assert!(read(4).is_empty());
        assert_eq!(read(8), [2]);
        assert!(read(12).is_empty());
    }

    #[test]
    fn only_so_many_files_are_followed() {
        let mut streams = Streams::default();
        for number in 0..2 * FILES_MAX as u64 {
            let node = Handle::new(&number.to_be_bytes()).expect("short");
            streams.on_read(&node, &ReadSeen { read: 0..1, missing: 1, size: 1, block: 1, most: 1 });
            assert!(streams.files.len() <= FILES_MAX);
        }
    }
}
