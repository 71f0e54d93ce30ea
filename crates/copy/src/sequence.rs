//! Reads one file in order, with as many reads on their way as the path wants.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::thread::{self, Scope};
use std::time::Instant;

use bytes::Bytes;
use howdah_tune::flight::{Bounds, Expected, Flight};
use howdah_vfs::{FsError, Node};
use parking_lot::{Condvar, Mutex, MutexGuard};

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
    flight: Flight,
}

/// Reads a file to its end and gives it to `sink`, in order: by `jobs` threads, or by as many as the path is `expected`, and then
/// measured, to want. The memory is bounded by twice the reads on their way.
pub fn read_in_order(
    side: &Side,
    node: &Node,
    (jobs, expected): (Option<usize>, Option<Expected>),
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<u64, SequenceError> {
    let bounds = Bounds { expected, ..Bounds::of_threads() };
    let bounds = jobs.map_or(bounds, |jobs| Bounds { floor: jobs.max(1), ceiling: jobs.max(1), ..bounds });
    let flight = Flight::new(bounds).with_call_size(BLOCK);
    let blocks = usize::try_from(node.attributes.size / BLOCK as u64).unwrap_or(usize::MAX).saturating_add(1);
    let (read, spare) = Default::default();
    let state = State { next: 0, wanted: 0, end: u64::MAX, read, spare, flight };
    let start = Instant::now();
    let (state, (arrived, has_room, is_wanted)) = (Mutex::new(state), Default::default());
    let reading = Reading { side, node, blocks, start, state, arrived, has_room, is_wanted };
    thread::scope(|scope| {
        let outcome = reading.hand_on(scope, sink);
        // Whatever ended it, readers that wait must not.
        reading.end_at(0);
        outcome
    })
}

struct Reading<'r> {
    side: &'r Side,
    node: &'r Node,
    /// More readers than blocks are of no use.
    blocks: usize,
    start: Instant,
    state: Mutex<State>,
    /// A block was read: for who hands on.
    arrived: Condvar,
    /// One more block may be read: for readers.
    has_room: Condvar,
    /// More readers are wanted: for those beyond their number.
    is_wanted: Condvar,
}

impl Reading<'_> {
    fn run(&self, reader: usize) {
        while let Some((number, mut buffer)) = self.take(reader) {
            let started = self.state.lock().flight.on_start(self.start.elapsed(), BLOCK);
            let read = self.side.read(&self.node.handle, number * BLOCK as u64, BLOCK, &mut buffer);
            let read = read.and_then(|read| Ok((read.end, in_memory(read.content, &mut buffer)?)));
            let now = self.start.elapsed();
            let mut state = self.state.lock();
            let readers = self.readers(&state);
            let (block, end) = match read {
                Ok((end, bytes)) => {
                    state.flight.on_finish(now, started, bytes.len());
                    let end = end || bytes.is_empty();
                    (Ok(bytes), end)
                }
                Err(refused) => {
                    state.flight.on_give_up();
                    (Err(refused), true)
                }
            };
            if end {
                state.end = state.end.min(number + 1);
            }
            state.read.insert(number, block);
            if end || self.readers(&state) > readers {
                self.wake_readers();
            }
            drop(state);
            self.arrived.notify_one();
        }
    }

    fn wake_readers(&self) {
        self.has_room.notify_all();
        self.is_wanted.notify_all();
    }

    /// The next block to read, for the reader of this number.
    fn take(&self, reader: usize) -> Option<(u64, Vec<u8>)> {
        let mut state = self.state.lock();
        loop {
            if state.next >= state.end {
                return None;
            }
            let readers = self.readers(&state);
            if reader >= readers {
                // Another one may read in its place.
                self.has_room.notify_one();
                self.is_wanted.wait(&mut state);
            } else if state.next < state.wanted + readers as u64 * 2 {
                state.next += 1;
                return Some((state.next - 1, state.spare.pop().unwrap_or_default()));
            } else {
                self.has_room.wait(&mut state);
            }
        }
    }

    /// How many readers there are to be.
    fn readers(&self, state: &State) -> usize {
        state.flight.in_flight_target().min(self.blocks)
    }

    fn hand_on<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<u64, SequenceError> {
        let (mut total, mut readers) = (0, 0);
        while let Some(block) = self.next_block(|wanted| self.start_readers(scope, &mut readers, wanted)) {
            let block = block.map_err(|refused| SequenceError::Read(total, refused))?;
            sink(&block).map_err(SequenceError::Sink)?;
            total += block.len() as u64;
            let mut buffer = Vec::new();
            reclaim(block, &mut buffer);
            self.state.lock().spare.push(buffer);
        }
        Ok(total)
    }

    /// Starts readers until there are as many as wanted, or the system gives no more.
    fn start_readers<'s>(&'s self, scope: &'s Scope<'s, '_>, readers: &mut usize, wanted: usize) {
        while *readers < wanted {
            let number = *readers;
            let builder = thread::Builder::new().name(format!("read-{number}"));
            if builder.spawn_scoped(scope, move || self.run(number)).is_err() {
                assert!(number > 0, "the system refuses the first thread of a reader");
                return;
            }
            *readers += 1;
        }
    }

    /// Waits for the next block to hand on. Meanwhile it calls `start` with the number of readers that the path wants.
    fn next_block(&self, mut start: impl FnMut(usize)) -> Option<Result<Bytes, FsError>> {
        let mut state = self.state.lock();
        loop {
            let readers = self.readers(&state);
            MutexGuard::unlocked(&mut state, || start(readers));
            let wanted = state.wanted;
            if wanted >= state.end {
                return None;
            }
            if let Some(block) = state.read.remove(&wanted) {
                state.wanted += 1;
                drop(state);
                self.has_room.notify_one();
                return Some(block);
            }
            self.arrived.wait(&mut state);
        }
    }

    fn end_at(&self, end: u64) {
        self.state.lock().end = end;
        self.wake_readers();
    }
}
