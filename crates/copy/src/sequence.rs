//! Reads one file in order with many reads on their way.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::thread;

use bytes::Bytes;
use howdah_vfs::{FsError, Node};
use parking_lot::{Condvar, Mutex};

use super::Side;
use super::side::{in_memory, reclaim};

/// Bytes per read: the largest that usual servers offer.
const BLOCK: usize = 1 << 20;

/// Why reading in order ended early.
#[derive(Debug)]
pub enum SequenceError {
    /// The file could not be read at this byte.
    Read(u64, FsError),
    /// Who gets the data does not want it.
    Sink(io::Error),
}

impl fmt::Display for SequenceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(at, refused) => write!(formatter, "reading at byte {at}: {refused}"),
            Self::Sink(error) => write!(formatter, "writing: {error}"),
        }
    }
}

impl std::error::Error for SequenceError {}

/// What the readers and the one who hands on share.
struct State {
    /// The next block to read.
    next: u64,
    /// The next block to hand on.
    wanted: u64,
    /// No block from this one on is read.
    end: u64,
    read: BTreeMap<u64, Result<Bytes, FsError>>,
    spare: Vec<Vec<u8>>,
}

/// Reads a file to its end by up to `jobs` threads and gives it to `sink`, in order. Each reader is at most a few blocks
/// ahead: the memory is bounded by twice the readers.
pub fn read_in_order(
    side: &Side,
    node: &Node,
    jobs: usize,
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<u64, SequenceError> {
    let blocks = node.attributes.size / BLOCK as u64 + 1;
    let readers = usize::try_from(blocks).unwrap_or(usize::MAX).min(jobs).max(1);
    let state = State { next: 0, wanted: 0, end: u64::MAX, read: BTreeMap::new(), spare: Vec::new() };
    let reading =
        Reading { side, node, ahead: readers as u64 * 2, state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| reading.run());
        }
        let outcome = reading.hand_on(sink);
        // Whatever ended it, readers that wait must not.
        reading.end_at(0);
        outcome
    })
}

struct Reading<'r> {
    side: &'r Side,
    node: &'r Node,
    ahead: u64,
    state: Mutex<State>,
    changed: Condvar,
}

impl Reading<'_> {
    fn run(&self) {
        while let Some((number, mut buffer)) = self.take() {
            let read = self.side.read(&self.node.handle, number * BLOCK as u64, BLOCK, &mut buffer);
            let read = read.and_then(|read| Ok((read.end, in_memory(read.content, &mut buffer)?)));
            let (block, end) = match read {
                Ok((end, bytes)) => {
                    let end = end || bytes.is_empty();
                    (Ok(bytes), end)
                }
                Err(refused) => (Err(refused), true),
            };
            let mut state = self.state.lock();
            if end {
                state.end = state.end.min(number + 1);
            }
            state.read.insert(number, block);
            drop(state);
            self.changed.notify_all();
        }
    }

    fn take(&self) -> Option<(u64, Vec<u8>)> {
        let mut state = self.state.lock();
        loop {
            if state.next >= state.end {
                return None;
            }
            if state.next < state.wanted + self.ahead {
                state.next += 1;
                return Some((state.next - 1, state.spare.pop().unwrap_or_default()));
            }
            self.changed.wait(&mut state);
        }
    }

    fn hand_on(&self, sink: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<u64, SequenceError> {
        let mut total = 0;
        while let Some(block) = self.next_block() {
            let block = block.map_err(|refused| SequenceError::Read(total, refused))?;
            sink(&block).map_err(SequenceError::Sink)?;
            total += block.len() as u64;
            let mut buffer = Vec::new();
            reclaim(block, &mut buffer);
            self.state.lock().spare.push(buffer);
        }
        Ok(total)
    }

    fn next_block(&self) -> Option<Result<Bytes, FsError>> {
        let mut state = self.state.lock();
        loop {
            let wanted = state.wanted;
            if wanted >= state.end {
                return None;
            }
            if let Some(block) = state.read.remove(&wanted) {
                state.wanted += 1;
                drop(state);
                self.changed.notify_all();
                return Some(block);
            }
            self.changed.wait(&mut state);
        }
    }

    fn end_at(&self, end: u64) {
        self.state.lock().end = end;
        self.changed.notify_all();
    }
}
