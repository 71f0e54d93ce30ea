//! What all calls of a write-behind share: the files with data that is not durable, and how that gets to be.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use howdah_tune::flight::{Bounds, Choice, Flight, Started};
use howdah_vfs::{Caller, Change, Data, FileSystem, FsError, Handle, Result, Stability, Written};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::super::threads::Threads;
use super::file::{Answered, File, Piece};
use crate::file::Lost;

/// How often data is written again because the server lost it before COMMIT said it was safe. A server that restarts
/// more often within one COMMIT is not going to be cured by more of it.
const LOSSES_MAX: u32 = 16;

/// How much is written behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBehindOptions {
    /// Bytes of one call: the server's preferred transfer size.
    pub block: usize,
    /// Bytes that may be held: data is, until it is committed. Beyond it the file at hand is committed.
    pub memory_budget: usize,
    /// The most calls at a time.
    pub in_flight: usize,
}

impl Default for WriteBehindOptions {
    /// 1 MiB transfers, and as many as a path of 10 Gb/s and 100 ms takes twice over.
    fn default() -> Self {
        Self { block: 1 << 20, memory_budget: 256 << 20, in_flight: Bounds::default().ceiling }
    }
}

/// What a write-behind holds, has done, and chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteBehindReport {
    /// Bytes held: gathered, on their way, or not committed.
    pub held: usize,
    /// Calls made to write.
    pub written: u64,
    /// Of those, how many wrote again what the server had lost.
    pub written_again: u64,
    /// Calls kept in flight, and why.
    pub in_flight: Choice,
}

/// The shared state.
pub struct Shared {
    pub inner: Arc<dyn FileSystem>,
    options: WriteBehindOptions,
    start: Instant,
    state: Mutex<State>,
    /// A call is over.
    over: Condvar,
}

struct State {
    files: HashMap<Handle, File>,
    held: usize,
    flight: Flight,
    written: u64,
    written_again: u64,
}

/// A call to be made; when it is over, or is never made, whoever waits is told.
struct Job {
    shared: Arc<Shared>,
    node: Handle,
    piece: Piece,
    /// Until it is made.
    started: Option<Started>,
    outcome: Result<Vec<Answered>>,
}

impl Shared {
    pub fn new(inner: Arc<dyn FileSystem>, options: WriteBehindOptions) -> Self {
        let bounds =
            Bounds { ceiling: options.in_flight, memory_budget: options.memory_budget, ..Bounds::default() };
        let flight = Flight::new(bounds);
        let state = State { files: HashMap::new(), held: 0, flight, written: 0, written_again: 0 };
        Self { inner, options, start: Instant::now(), state: Mutex::new(state), over: Condvar::new() }
    }

    pub fn report(&self) -> WriteBehindReport {
        let state = self.state.lock();
        let State { held, written, written_again, .. } = *state;
        WriteBehindReport { held, written, written_again, in_flight: state.flight.explain() }
    }

    /// Takes data for a file.
    pub fn take(self: &Arc<Self>, threads: &Threads, node: &Handle, data: Piece) -> Result<()> {
        let mut state = self.state.lock();
        self.wait_for_older(&mut state, threads, node, &data.range());
        let file = state.files.entry(*node).or_default();
        if let Some(error) = file.failed.take() {
            return Err(error);
        }
        let ready = file.gather(&data.caller, data.offset, &data.bytes, self.options.block);
        // All of them before any waits for room: whoever writes again what was lost must see that these are newer.
        file.on_the_way.extend(ready.iter().map(Piece::range));
        state.held += data.bytes.len();
        for piece in ready {
            self.launch(&mut state, threads, node, piece);
        }
        let full = state.held > self.options.memory_budget;
        drop(state);
        // Whoever fills the memory waits until the file is safe.
        if full { self.commit(threads, node, &data.caller) } else { Ok(()) }
    }

    /// Whether this caller's last write to the file was taken, so that the next one will be too.
    pub fn may_write(&self, node: &Handle, caller: &Caller) -> bool {
        self.state.lock().files.get(node).is_some_and(|file| file.writer.as_ref() == Some(caller))
    }

    /// Writes at once, and holds what was written and is not durable.
    pub fn write_now(
        self: &Arc<Self>,
        threads: &Threads,
        node: &Handle,
        data: &Piece,
        stability: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        let (caller, range, bytes) = (&data.caller, data.range(), data.bytes.clone());
        {
            let mut state = self.state.lock();
            self.wait_for_older(&mut state, threads, node, &range);
            // Whoever writes again what was lost must see that this is newer.
            state.file(node).on_the_way.push(range.clone());
        }
        let shared = Data::Shared(bytes.clone());
        let outcome = self.inner.write(caller, node, data.offset, shared, stability, change);
        let mut state = self.state.lock();
        state.file(node).arrived(&range);
        if let Ok(Written { count, stability, verifier }) = outcome {
            let bytes = bytes.slice(..count.min(bytes.len()));
            state.file(node).writer = Some(caller.clone());
            state.wrote(node, [Answered { piece: Piece { bytes, ..data.clone() }, stability, verifier }]);
        }
        drop(state);
        self.over.notify_all();
        if outcome.is_err() || stability != Stability::Unstable {
            self.forget(node);
        }
        outcome
    }

    /// Waits until all data of a file has been written, if not committed.
    pub fn flush(self: &Arc<Self>, threads: &Threads, node: &Handle) {
        let mut state = self.state.lock();
        self.send(&mut state, threads, node);
        self.wait_clean(&mut state, node);
    }

    /// The same for all files.
    pub fn flush_all(self: &Arc<Self>, threads: &Threads) {
        self.nodes().iter().for_each(|node| self.flush(threads, node));
    }

    /// Whether data of this file has not been written yet.
    pub fn is_dirty(&self, node: &Handle) -> bool {
        self.state.lock().files.get(node).is_some_and(File::is_dirty)
    }

    /// Whether data of this file is not durable yet.
    pub fn holds(&self, node: &Handle) -> bool {
        self.state.lock().files.get(node).is_some_and(|file| !file.is_forgettable())
    }

    /// The files with data that is not durable.
    pub fn nodes(&self) -> Vec<Handle> {
        self.state.lock().files.keys().copied().collect()
    }

    /// Makes all data of a file durable that was written before. What the server lost meanwhile is written again.
    pub fn commit(self: &Arc<Self>, threads: &Threads, node: &Handle, caller: &Caller) -> Result<()> {
        for _ in 0..LOSSES_MAX {
            self.flush(threads, node);
            let moment = {
                let mut state = self.state.lock();
                let Some(file) = state.files.get_mut(node) else { return Ok(()) };
                if let Some(error) = file.failed.take() {
                    return Err(error);
                }
                if file.uncommitted.is_empty() {
                    drop(state);
                    self.forget(node);
                    return Ok(());
                }
                file.uncommitted.moment()
            };
            // When that fails, the data is still held: the next COMMIT tries again.
            let committed = self.inner.commit(caller, node, 0, 0, &mut Change::default())?;
            let mut state = self.state.lock();
            if state.committed(node, moment, committed.verifier).is_empty() {
                drop(state);
                self.forget(node);
                return Ok(());
            }
            let lost = self.lost(&mut state, threads, node, moment, committed.verifier);
            self.write_again(&mut state, threads, node, lost);
        }
        Err(FsError::Io)
    }

    /// What a COMMIT that started at `moment` found lost. What is newer is there before it is given, however much comes
    /// meanwhile: the older must not land over it.
    fn lost(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        threads: &Threads,
        node: &Handle,
        moment: u64,
        verifier: [u8; 8],
    ) -> Vec<Piece> {
        let piece = |Lost { offset, data, with }: Lost<Caller>| Piece { caller: with, offset, bytes: data };
        loop {
            self.send(state, threads, node);
            self.wait_clean(state, node);
            let lost = state.committed(node, moment, verifier).into_iter().map(piece).collect::<Vec<_>>();
            // What was written over is not lost any more: every turn leaves less.
            if !lost.iter().any(|piece| state.overlaps(node, &piece.range())) {
                return lost;
            }
        }
    }

    /// Commits as who wrote the file last, who may.
    pub fn commit_as_writer(self: &Arc<Self>, threads: &Threads, node: &Handle) -> Result<()> {
        let writer = self.state.lock().files.get(node).and_then(|file| file.writer.clone());
        self.commit(threads, node, &writer.unwrap_or(Caller::ROOT))
    }

    /// Commits every file. What goes wrong is told to the next who writes or commits that file.
    pub fn commit_all(self: &Arc<Self>, threads: &Threads) {
        for node in self.nodes() {
            if let Err(error) = self.commit_as_writer(threads, &node) {
                self.state.lock().file(&node).failed = Some(error);
            }
        }
    }

    fn write_again(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        threads: &Threads,
        node: &Handle,
        pieces: Vec<Piece>,
    ) {
        state.written_again += pieces.len() as u64;
        state.held += pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
        // All of them before any waits for room: whoever writes the same bytes meanwhile must see that these are first.
        state.file(node).on_the_way.extend(pieces.iter().map(Piece::range));
        for piece in pieces {
            self.launch(state, threads, node, piece);
        }
    }

    /// Starts the call for what is gathered.
    fn send(self: &Arc<Self>, state: &mut MutexGuard<'_, State>, threads: &Threads, node: &Handle) {
        if let Some(piece) = state.files.get_mut(node).and_then(File::take) {
            // Before the wait: whoever writes the same bytes meanwhile must see that these are first.
            state.file(node).on_the_way.push(piece.range());
            self.launch(state, threads, node, piece);
        }
    }

    /// Waits until nothing of these bytes is gathered or on its way: what is written next is newer.
    fn wait_for_older(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        threads: &Threads,
        node: &Handle,
        range: &Range<u64>,
    ) {
        while state.overlaps(node, range) {
            self.send(state, threads, node);
            self.wait_clean(state, node);
        }
    }

    fn wait_clean(&self, state: &mut MutexGuard<'_, State>, node: &Handle) {
        while state.files.get(node).is_some_and(|file| !file.on_the_way.is_empty()) {
            self.over.wait(state);
        }
    }

    /// Starts the call for what is said to be on its way already, when there is room for one.
    fn launch(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        threads: &Threads,
        node: &Handle,
        piece: Piece,
    ) {
        while state.flight.in_flight() >= state.flight.in_flight_target() {
            self.over.wait(state);
        }
        state.written += 1;
        let (now, size) = (self.start.elapsed(), piece.bytes.len());
        let started = Some(state.flight.on_start(now, size));
        let outcome = Err(FsError::ServerFault);
        let job = Job { shared: Arc::clone(self), node: *node, piece, started, outcome };
        // A job that is not run takes the lock when it is dropped.
        MutexGuard::unlocked(state, || threads.run(move || job.run()));
    }

    /// Writes a piece, in as many calls as it takes.
    fn write(&self, node: &Handle, piece: &Piece) -> Result<Vec<Answered>> {
        let (mut done, mut answers) = (0, Vec::new());
        while done < piece.bytes.len() {
            let (rest, offset) = (piece.bytes.slice(done..), piece.offset + done as u64);
            let (mut change, data) = (Change::default(), Data::Shared(rest.clone()));
            let Written { count, stability, verifier } =
                self.inner.write(&piece.caller, node, offset, data, Stability::Unstable, &mut change)?;
            if count == 0 {
                return Err(FsError::Io);
            }
            let count = count.min(rest.len());
            let piece = Piece { caller: piece.caller.clone(), offset, bytes: rest.slice(..count) };
            answers.push(Answered { piece, stability, verifier });
            done += count;
        }
        Ok(answers)
    }

    fn forget(&self, node: &Handle) {
        let mut state = self.state.lock();
        if state.files.get(node).is_some_and(File::is_forgettable) {
            state.files.remove(node);
        }
    }
}

impl State {
    fn file(&mut self, node: &Handle) -> &mut File {
        self.files.entry(*node).or_default()
    }

    /// Whether any of these bytes are gathered or on their way.
    fn overlaps(&self, node: &Handle, range: &Range<u64>) -> bool {
        self.files.get(node).is_some_and(|file| file.overlaps(range))
    }

    /// Takes the answers to writes of a file.
    fn wrote(&mut self, node: &Handle, answers: impl IntoIterator<Item = Answered>) {
        self.holding(node, |file| answers.into_iter().for_each(|answered| file.wrote(answered)));
    }

    /// Takes the answer to a COMMIT that started at `moment`; gives what was lost.
    fn committed(&mut self, node: &Handle, moment: u64, verifier: [u8; 8]) -> Vec<Lost<Caller>> {
        self.holding(node, |file| file.uncommitted.committed(moment, verifier))
    }

    /// Changes what is held of a file, and counts it.
    fn holding<T>(&mut self, node: &Handle, change: impl FnOnce(&mut File) -> T) -> T {
        let file = self.files.entry(*node).or_default();
        let before = file.uncommitted.held();
        let outcome = change(file);
        let after = file.uncommitted.held();
        self.held = self.held + after - before;
        outcome
    }
}

impl Job {
    fn run(mut self) {
        self.outcome = self.shared.write(&self.node, &self.piece);
        if let Some(started) = self.started.take() {
            let now = self.shared.start.elapsed();
            self.shared.state.lock().flight.on_finish(now, started, self.piece.bytes.len());
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if self.started.is_some() {
            state.flight.on_give_up();
        }
        let (range, size) = (self.piece.range(), self.piece.bytes.len());
        let Some(file) = state.files.get_mut(&self.node) else { return };
        file.arrived(&range);
        state.held -= size;
        match std::mem::replace(&mut self.outcome, Ok(Vec::new())) {
            Ok(answers) => state.wrote(&self.node, answers),
            Err(error) => state.file(&self.node).failed = Some(error),
        }
        drop(state);
        self.shared.over.notify_all();
    }
}
