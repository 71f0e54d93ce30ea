//! Two workers on one stream, step by step, as the server's are: each looks for a record, and when it finds none moves
//! the rest of a partial one from the stream, or receives.

use std::mem;

use howdah_rpc::server::{Assembly, BufferPool, Poll, Record, StreamError};

use super::RECORD_MAX;
use super::reading::Reading;

/// Bits of a step: which worker takes it.
const SECOND: u8 = 1;
/// It would rather move what is partial than receive it.
const MOVES: u8 = 2;
/// A pause in the stream: little memory is held through it.
const RESTS: u8 = 4;
/// It keeps the records it finds for a while.
const KEEPS: u8 = 8;
/// The rest: how much of what came of a record is its header.
const HEADER: u8 = 0xf0;

/// Records that a worker that keeps them still uses while the next ones come in.
const KEPT: usize = 3;

/// The workers, and what they have done.
pub struct Workers<'a> {
    stream: &'a [u8],
    expected: &'a Reading,
    pieces: [usize; 2],
    assembly: Assembly,
    pool: BufferPool,
    /// How much of the stream has been taken from it.
    taken: usize,
    /// Whose last look found no record, so that it receives next.
    receives: [bool; 2],
    records: Vec<Vec<u8>>,
    kept: Vec<Record>,
}

impl<'a> Workers<'a> {
    /// Nothing has come yet.
    pub fn new(stream: &'a [u8], expected: &'a Reading, pieces: [usize; 2]) -> Self {
        Self {
            stream,
            expected,
            pieces,
            assembly: Assembly::new(RECORD_MAX),
            pool: BufferPool::new(RECORD_MAX),
            taken: 0,
            receives: [false; 2],
            records: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Goes through the steps again and again, until the stream is taken or the assembly fails.
    pub fn run(&mut self, steps: &[u8]) {
        for &step in steps.iter().cycle() {
            if self.taken == self.stream.len() || self.step(step).is_err() {
                return;
            }
            self.check();
        }
    }

    /// Takes what is left in the assembly: all records, and whether it failed after them.
    pub fn end(mut self) -> (Vec<Vec<u8>>, bool) {
        loop {
            match self.look(KEEPS) {
                Ok(true) => {}
                Ok(false) => return (self.records, false),
                Err(_) => return (self.records, true),
            }
        }
    }

    fn step(&mut self, step: u8) -> Result<(), StreamError> {
        if step & RESTS != 0 {
            self.assembly.rest(&mut self.pool);
        }
        let worker = usize::from(step & SECOND);
        if !mem::take(&mut self.receives[worker]) {
            self.receives[worker] = !self.look(step)?;
        } else if step & MOVES == 0 || !self.move_rest(usize::from(step & HEADER)) {
            self.receive(worker);
        }
        Ok(())
    }

    /// Looks for a record; says whether there was one.
    fn look(&mut self, step: u8) -> Result<bool, StreamError> {
        let Poll::Record(record) = self.assembly.poll()? else { return Ok(false) };
        self.records.push(record.bytes().to_vec());
        self.kept.push(record);
        let kept = if step & KEEPS == 0 { 0 } else { KEPT };
        while self.kept.len() > kept {
            self.pool.put(self.kept.remove(0).into_buffer());
        }
        Ok(true)
    }

    fn receive(&mut self, worker: usize) {
        // The other worker has received since this one looked.
        if self.assembly.is_unread() {
            return;
        }
        let room = self.assembly.buffer(&mut self.pool);
        assert!(!room.is_empty(), "no room to receive into");
        let rest = &self.stream[self.taken..];
        let count = room.len().min(self.pieces[worker]).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        self.assembly.received(count);
    }

    /// Takes the rest of a partial record from the stream, if there is one and all of it is there.
    fn move_rest(&mut self, header: usize) -> bool {
        let Some(partial) = self.assembly.partial() else { return false };
        let Some(missing) = partial.length.checked_sub(partial.bytes.len()).filter(|&rest| rest > 0) else {
            return false;
        };
        let Some(rest) = self.stream[self.taken..].get(..missing) else { return false };
        let header = header.min(partial.bytes.len());
        self.records.push([partial.bytes, rest].concat());
        self.taken += missing;
        self.assembly.skip_partial(header);
        true
    }

    /// What the assembly says of itself is true.
    fn check(&self) {
        let bound = RECORD_MAX + BufferPool::usual_size();
        assert!(self.assembly.memory() <= bound, "{} bytes held of {bound}", self.assembly.memory());
        let number = self.records.len();
        let place = self.expected.places.get(number).copied().flatten();
        if let Some(partial) = self.assembly.partial() {
            let place = place.expect("a record in one fragment");
            assert_eq!(partial.length, place.length, "what is partial");
            assert!(*partial.bytes == self.stream[place.start..self.taken], "what came of it");
        }
        if !self.assembly.is_unread() && self.receives.contains(&true) {
            let known = place.is_some_and(|place| place.start <= self.taken);
            assert_eq!(self.assembly.partial().is_some(), known, "whether a partial record is known");
            let started = self.taken > self.expected.start(number);
            assert_eq!(self.assembly.is_partial(), started, "whether a record has started");
        }
    }
}
