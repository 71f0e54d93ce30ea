//! Puts the bytes of a stream together to whole records (RFC 5531 11).
//!
//! A loop drives it: `buffer` says where to receive, `received` how much came, `poll` gives what is whole. Memory
//! follows the bytes that came, never the length that a mark claims: a record is first received into a buffer of the
//! usual size, and only a peer that filled that one, or delivered a large record before, gets a large one.

use std::fmt;
use std::sync::Arc;

use howdah_wire::rpc::RecordMark;

use super::buffer::{Buffer, BufferPool, Record};
use crate::limits::FRAGMENTS_MAX;

/// A record from here on is bulk: it is received by itself, without bytes of the next one.
const BULK: usize = 32 << 10;
/// How much is received when the next record may be bulk: its header, and little of its data, which then goes straight
/// to where it belongs.
const PEEK: usize = 256;

/// What `poll` found.
#[derive(Debug)]
pub enum Poll {
    /// A whole record.
    Record(Record),
    /// More bytes are needed.
    More,
}

/// The stream cannot be read on: the connection is closed, since nobody knows where the next record starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamError {
    /// A record longer than allowed.
    TooLong {
        /// The length claimed so far, in bytes.
        claimed: usize,
        /// The length allowed.
        limit: usize,
    },
    /// A record in more fragments than allowed.
    TooManyFragments,
}

/// The bytes of one stream on their way to records.
#[derive(Debug)]
pub struct Assembly {
    record_max: usize,
    buffer: Option<Arc<Buffer>>,
    /// Where the bytes that belong to no finished record start.
    start: usize,
    /// Where the bytes received end.
    end: usize,
    /// Bytes of the current record that are in place: from `start`, marks taken out.
    joined: usize,
    /// Where the bytes after those start: a mark, or the data of `fragment`. Marks that were read lie in between.
    next: usize,
    /// The fragment that is being received, once its mark is known.
    fragment: Option<RecordMark>,
    fragments: u32,
    /// The largest record that came whole: a peer that delivered one is given a large buffer at once.
    proven: usize,
    /// The last record was bulk, so that the next one probably is: how much to receive to have its header.
    peek: Option<usize>,
    /// Bytes were received that `poll` has not looked at.
    unread: bool,
}

/// A record that is not whole yet.
#[derive(Debug, Clone, Copy)]
pub struct Partial<'a> {
    /// What has come of it.
    pub bytes: &'a [u8],
    /// Its length in bytes.
    pub length: usize,
}

impl Assembly {
    /// A stream at its start, whose records are at most `record_max` bytes.
    pub fn new(record_max: usize) -> Self {
        Self {
            record_max,
            buffer: None,
            start: 0,
            end: 0,
            joined: 0,
            next: 0,
            fragment: None,
            fragments: 0,
            proven: 0,
            peek: None,
            unread: false,
        }
    }

    /// Whether bytes were received that `poll` has not looked at: they may be a whole record already, which leaves no
    /// room to receive.
    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// Where to receive, once `poll` has found nothing whole. Never empty.
    pub fn buffer(&mut self, pool: &mut BufferPool) -> &mut [u8] {
        let (wanted, bound) = self.wanted();
        self.make_room(wanted, pool);
        let end = self.end;
        let buffer = self.buffer.as_mut().and_then(Arc::get_mut).expect("make_room left a buffer of our own");
        let bytes = buffer.bytes_mut();
        let bound = bound.map_or(bytes.len(), |bound| bytes.len().min(end + bound));
        &mut bytes[end..bound]
    }

    /// So many bytes were received into `buffer`.
    pub fn received(&mut self, count: usize) {
        self.end += count;
        self.unread = true;
    }

    /// The next whole record.
    pub fn poll(&mut self) -> Result<Poll, StreamError> {
        loop {
            let Some(mark) = self.fragment else {
                if !self.next_mark()? {
                    break;
                }
                continue;
            };
            if self.end < self.next + mark.length as usize {
                break;
            }
            self.join(mark.length as usize);
            self.fragment = None;
            if mark.last {
                return Ok(Poll::Record(self.take_record()));
            }
        }
        self.unread = false;
        Ok(Poll::More)
    }

    /// The record that is being received, if it is in one fragment (as clients send bulk) and its mark is known.
    pub fn partial(&self) -> Option<Partial<'_>> {
        let mark = self.fragment.filter(|mark| mark.last && self.joined == 0)?;
        let bytes = self.buffer.as_ref().map_or(&[][..], |buffer| &buffer.bytes()[self.start..self.end]);
        Some(Partial { bytes, length: mark.length as usize })
    }

    /// The rest of the partial record was taken from the stream by other means: forgets what came of it. Its header
    /// was `header` bytes long, as that of the next one will be.
    pub fn skip_partial(&mut self, header: usize) {
        self.proven = self.proven.max(self.fragment.map_or(0, |mark| mark.length as usize));
        (self.start, self.end, self.joined, self.next) = (0, 0, 0, 0);
        (self.fragment, self.fragments) = (None, 0);
        self.peek = Some(RecordMark::SIZE + header);
    }

    /// Whether a record has started and is not whole.
    pub fn is_partial(&self) -> bool {
        self.end > self.start || self.joined > 0 || self.fragments > 0
    }

    /// Nothing more came: holds on to as little memory as the bytes at hand need.
    pub fn rest(&mut self, pool: &mut BufferPool) {
        let held = self.end - self.start;
        match self.buffer.take() {
            Some(buffer) if held == 0 => {
                pool.put(buffer);
                self.moved_to_front();
            }
            Some(buffer)
                if held <= BufferPool::smallest_size() / 2 && buffer.size() > BufferPool::smallest_size() =>
            {
                self.move_to(pool.take(held), buffer, pool);
            }
            buffer => self.buffer = buffer,
        }
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.buffer.as_ref().map_or(0, |buffer| buffer.size())
    }

    /// How much room the bytes from `start` on need in all, and at most how much to receive now.
    fn wanted(&self) -> (usize, Option<usize>) {
        let held = self.end - self.start;
        let usual = BufferPool::usual_size();
        match self.fragment {
            // The end of a bulk record is known: receive up to there and not beyond.
            Some(mark) if mark.length as usize >= BULK => {
                let length = self.next - self.start + mark.length as usize;
                let known = length <= self.proven || held >= usual - RecordMark::SIZE;
                (if known { length } else { usual }, Some(length - held))
            }
            _ if held + PEEK > usual => (self.record_max, None),
            // A smaller one after bulk: the next may be bulk again.
            Some(mark) => {
                let missing = (self.next + mark.length as usize).saturating_sub(self.end);
                (usual, self.peek.map(|_| missing + PEEK))
            }
            None => (usual, self.peek.map(|peek| peek.max(held + PEEK) - held)),
        }
    }

    /// Sees to a buffer of our own with room for `wanted` bytes from `start` on.
    fn make_room(&mut self, wanted: usize, pool: &mut BufferPool) {
        let Some(mut buffer) = self.buffer.take() else {
            self.moved_to_front();
            self.buffer = Some(pool.take(wanted));
            return;
        };
        let own = Arc::get_mut(&mut buffer);
        match own {
            Some(own) if self.start == self.end && wanted <= own.size() => {
                self.moved_to_front();
                self.buffer = Some(buffer);
            }
            Some(own) if self.start + wanted <= own.size() && self.end < own.size() => {
                self.buffer = Some(buffer)
            }
            Some(own) if wanted <= own.size() && self.end - self.start < own.size() => {
                own.bytes_mut().copy_within(self.start..self.end, 0);
                self.moved_to_front();
                self.buffer = Some(buffer);
            }
            _ => self.move_to(pool.take(wanted), buffer, pool),
        }
    }

    /// Moves the bytes at hand to another buffer.
    fn move_to(&mut self, mut new: Arc<Buffer>, old: Arc<Buffer>, pool: &mut BufferPool) {
        let held = self.end - self.start;
        let target = Arc::get_mut(&mut new).expect("a buffer of the pool is nobody else's");
        target.bytes_mut()[..held].copy_from_slice(&old.bytes()[self.start..self.end]);
        self.moved_to_front();
        self.buffer = Some(new);
        pool.put(old);
    }

    /// What was at `start` is at the front of a buffer now.
    fn moved_to_front(&mut self) {
        self.end -= self.start;
        self.next -= self.start;
        self.start = 0;
    }

    /// Reads the next mark, if it is there.
    fn next_mark(&mut self) -> Result<bool, StreamError> {
        let at = self.next;
        if self.end < at + RecordMark::SIZE {
            return Ok(false);
        }
        let bytes = self.buffer.as_ref().expect("bytes were received").bytes();
        let mark = RecordMark::from_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let claimed = self.joined + mark.length as usize;
        if claimed > self.record_max {
            return Err(StreamError::TooLong { claimed, limit: self.record_max });
        }
        self.fragments += 1;
        if self.fragments > FRAGMENTS_MAX {
            return Err(StreamError::TooManyFragments);
        }
        self.next += RecordMark::SIZE;
        if self.joined == 0 {
            self.start = self.next;
        }
        self.fragment = Some(mark);
        Ok(true)
    }

    /// Adds the fragment that came to what came before: over the mark between them, so that each byte moves at most
    /// once, however many fragments there are.
    fn join(&mut self, length: usize) {
        let (target, range) = (self.start + self.joined, self.next..self.next + length);
        self.joined += length;
        self.next = range.end;
        if target == range.start || length == 0 {
            return;
        }
        let buffer = self.buffer.as_mut().expect("bytes were received");
        if let Some(own) = Arc::get_mut(buffer) {
            own.bytes_mut().copy_within(range, target);
            return;
        }
        // Records before this one are still in use: work on a copy.
        let mut copy = buffer.bytes().to_vec().into_boxed_slice();
        copy.copy_within(range, target);
        *buffer = Buffer::from_bytes(copy);
    }

    /// The record that is whole now.
    fn take_record(&mut self) -> Record {
        let range = self.start..self.start + self.joined;
        let buffer = self.buffer.as_ref().expect("bytes were received");
        let record = Record::new(Arc::clone(buffer), range.clone());
        self.start = self.next;
        self.proven = self.proven.max(self.joined);
        self.peek = (self.joined >= BULK).then_some(self.peek.unwrap_or(PEEK));
        (self.joined, self.fragments) = (0, 0);
        record
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { claimed, limit } => {
                write!(formatter, "a record of {claimed} bytes, where at most {limit} are allowed")
            }
            Self::TooManyFragments => write!(formatter, "a record in more than {FRAGMENTS_MAX} fragments"),
        }
    }
}

impl std::error::Error for StreamError {}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    fn framed(record: &[u8], fragments: &[usize]) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut rest = record;
        for (index, &length) in fragments.iter().enumerate() {
            let last = index + 1 == fragments.len();
            let (fragment, left) = rest.split_at(if last { rest.len() } else { length });
            stream.extend(RecordMark { length: fragment.len() as u32, last }.to_bytes());
            stream.extend(fragment);
            rest = left;
        }
        stream
    }

    /// Feeds a stream in pieces, and gives the records that come out.
    fn feed(assembly: &mut Assembly, stream: &[u8], piece: usize) -> Result<Vec<Vec<u8>>, StreamError> {
        let mut pool = BufferPool::new(LIMIT);
        let (mut records, mut held, mut rest) = (Vec::new(), Vec::new(), stream);
        while !rest.is_empty() {
            let buffer = assembly.buffer(&mut pool);
            let count = buffer.len().min(piece).min(rest.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            assembly.received(count);
            rest = &rest[count..];
            while let Poll::Record(record) = assembly.poll()? {
                records.push(record.bytes().to_vec());
                held.push(record);
                if held.len() > 3 {
                    pool.put(held.remove(0).into_buffer());
                }
            }
        }
        Ok(records)
    }

    #[test]
    fn records_come_out_whole_whatever_the_pieces_and_fragments() {
        let bodies: Vec<Vec<u8>> = [0, 1, 120, 5000, 70_000, 3, LIMIT, 16]
            .iter()
            .enumerate()
            .map(|(index, &length)| (0..length).map(|at| (at * 7 + index) as u8).collect())
            .collect();
        for fragments in [&[0][..], &[0, 0], &[1, 0, 0]] {
            let stream: Vec<u8> = bodies
                .iter()
                .flat_map(|body| {
                    let sizes: Vec<usize> = fragments.iter().map(|&size| size.min(body.len())).collect();
                    framed(body, &sizes)
                })
                .collect();
            for piece in [1, 3, 4096, usize::MAX] {
                let mut assembly = Assembly::new(LIMIT);
                assert_eq!(feed(&mut assembly, &stream, piece).as_ref(), Ok(&bodies), "pieces of {piece}");
                assert!(!assembly.is_partial());
            }
        }
    }

    #[test]
    fn many_fragments_of_odd_sizes_are_joined_while_earlier_records_are_in_use() {
        let bodies: Vec<Vec<u8>> = [40_000, LIMIT, 9_000]
            .iter()
            .map(|&length| (0..length).map(|at| (at * 11 + length) as u8).collect())
            .collect();
        let sizes: Vec<usize> = (0..FRAGMENTS_MAX as usize).map(|index| index % 5 * (index % 4)).collect();
        let stream: Vec<u8> = bodies.iter().flat_map(|body| framed(body, &sizes)).collect();
        for piece in [1, 1001, 65_536, usize::MAX] {
            assert_eq!(
                feed(&mut Assembly::new(LIMIT), &stream, piece).as_ref(),
                Ok(&bodies),
                "pieces of {piece}"
            );
        }
    }

    #[test]
    fn a_claim_is_refused_before_anything_is_kept_for_it() {
        let mut assembly = Assembly::new(LIMIT);
        let mark = RecordMark { length: (1 << 31) - 1, last: true }.to_bytes();
        assert_eq!(
            feed(&mut assembly, &mark, 4),
            Err(StreamError::TooLong { claimed: (1 << 31) - 1, limit: LIMIT })
        );
    }

    #[test]
    fn memory_follows_what_came_not_what_was_claimed() {
        let mut assembly = Assembly::new(LIMIT);
        let mut stream = RecordMark { length: LIMIT as u32, last: true }.to_bytes().to_vec();
        stream.extend([0; 100]);
        feed(&mut assembly, &stream, 10).expect("allowed");
        assert_eq!(assembly.memory(), BufferPool::usual_size());
        assembly.rest(&mut BufferPool::new(LIMIT));
        assert_eq!(assembly.memory(), BufferPool::smallest_size());
    }

    #[test]
    fn a_write_of_64_kib_takes_no_large_buffer() {
        let write = framed(&[7; (64 << 10) + 1000], &[0]);
        let third = [&write.repeat(2)[..], &write[..50_000]].concat();
        for piece in [1000, 40_000, usize::MAX] {
            let mut assembly = Assembly::new(LIMIT);
            feed(&mut assembly, &third, piece).expect("allowed");
            assert_eq!(assembly.memory(), BufferPool::usual_size(), "pieces of {piece}");
        }
    }

    #[test]
    fn small_writes_between_large_ones_take_few_receives() {
        let sizes = [40_000, 20_000, 300, 33_000, 31_000, 1_000, 70_000, 12_000];
        for fragments in [&[0][..], &[7, 0]] {
            let stream: Vec<u8> = sizes.iter().flat_map(|&size| framed(&vec![7; size], fragments)).collect();
            let (mut assembly, mut pool) = (Assembly::new(LIMIT), BufferPool::new(LIMIT));
            let (mut receives, mut records, mut rest) = (0, Vec::new(), &stream[..]);
            while !rest.is_empty() {
                let buffer = assembly.buffer(&mut pool);
                let count = buffer.len().min(rest.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                assembly.received(count);
                (rest, receives) = (&rest[count..], receives + 1);
                while let Poll::Record(record) = assembly.poll().expect("records") {
                    records.push(record.bytes().len());
                }
            }
            assert_eq!(records, sizes);
            assert!(receives <= 3 * sizes.len(), "{receives} receives for {} records", sizes.len());
        }
    }

    #[test]
    fn a_record_has_started_with_its_first_mark_even_an_empty_one() {
        let mut assembly = Assembly::new(LIMIT);
        assert!(!assembly.is_partial());
        feed(&mut assembly, &RecordMark { length: 0, last: false }.to_bytes(), 4).expect("allowed");
        assert!(assembly.is_partial());
        feed(&mut assembly, &RecordMark { length: 0, last: true }.to_bytes(), 4).expect("allowed");
        assert!(!assembly.is_partial());
    }

    #[test]
    fn a_record_whose_mark_alone_came_is_partial_through_a_pause() {
        let mut assembly = Assembly::new(LIMIT);
        feed(&mut assembly, &RecordMark { length: 100, last: true }.to_bytes(), 4).expect("allowed");
        assembly.rest(&mut BufferPool::new(LIMIT));
        let partial = assembly.partial().expect("its mark is known");
        assert_eq!((partial.bytes, partial.length), (&[][..], 100));
    }

    #[test]
    fn endless_empty_fragments_end_the_stream() {
        let stream = RecordMark { length: 0, last: false }.to_bytes().repeat(FRAGMENTS_MAX as usize + 1);
        assert_eq!(feed(&mut Assembly::new(LIMIT), &stream, 4096), Err(StreamError::TooManyFragments));
    }
}
