//! What all calls of a write-behind share: the files with data that is not durable, and how that gets to be.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_tune::flight::{Bounds, Flight, Started};
use howdah_vfs::{
    Access, Attributes, Caller, Change, Data, FileSystem, FsError, Handle, NewAttributes, Result,
    SetAttributes, SetTime, Stability, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::file::{Answered, DirtyPiece, File};
use super::pools::Pools;
use super::state::{SET_ID, State, Teller};
use super::with_data::WholeWrite;
use super::{WriteBehindOptions, WriteBehindReport};

/// How long to wait before what could not be written now is tried again. The server was waited for before that.
pub const AGAIN: Duration = Duration::from_millis(100);

/// The shared state.
pub struct Shared {
    pub inner: Arc<dyn FileSystem>,
    options: WriteBehindOptions,
    pub start: Instant,
    pub state: Mutex<State>,
    /// A call is over.
    pub over: Condvar,
    /// Wakes the thread that sends gathered data after a time limit.
    pub aging: Condvar,
}

impl Shared {
    pub fn new(inner: Arc<dyn FileSystem>, options: WriteBehindOptions) -> Self {
        let bounds = Bounds {
            ceiling: options.in_flight,
            memory_budget: options.memory_budget,
            expected: options.expected,
            ..Bounds::default()
        };
        let state = Mutex::new(State::new(options, Flight::new(bounds)));
        let (start, (over, aging)) = (Instant::now(), Default::default());
        Self { inner, options, start, state, over, aging }
    }

    pub fn gathered_for(&self) -> Duration {
        self.options.gathered_for
    }

    pub fn report(&self) -> WriteBehindReport {
        self.state.lock().report()
    }

    /// Takes data for a file, when there is room for it; returns what the file is like then.
    pub fn take(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        data: DirtyPiece,
        change: &mut Change,
    ) -> Result<()> {
        let (size, range) = (data.bytes.len(), data.range());
        self.make_room(pools, node, size, &data.caller)?;
        let mut state = self.state.lock();
        self.wait_for_older(&mut state, pools, node, &range)?;
        state.take_failure(node)?;
        let file = state.file(node);
        file.writer = Some(data.caller.clone());
        let ready = file.gather(&data.caller, data.offset, &data.bytes, self.options.block);
        if file.gathered_since().is_some() && state.aging.sleeps {
            self.aging.notify_one();
        }
        // All of them before any waits for room: the thread that writes lost data again must see that these are newer.
        state.send_off(node, ready.iter().map(DirtyPiece::range));
        state.held += size;
        state.let_go = state.let_go.saturating_sub(1);
        *change = state.took(node, range.end);
        for piece in ready {
            self.launch(&mut state, pools, node, piece, None);
        }
        Ok(())
    }

    /// Waits until so much more may be held. Where nothing is under way that would make room, commits the file at hand.
    fn make_room(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        size: usize,
        caller: &Caller,
    ) -> Result<()> {
        let (mut state, began) = (self.state.lock(), Instant::now());
        if state.has_room(size) {
            return Ok(());
        }
        state.waited_for_memory += 1;
        while !state.has_room(size) {
            state.take_failure(node)?;
            if let Some(fullest) = state.fullest()
                && let Some(ahead) = state.commit_ahead(&fullest, true)
            {
                let writer = state.files.get(&fullest).and_then(|file| file.writer.clone());
                // A job that is not run takes the lock when it is dropped.
                MutexGuard::unlocked(&mut state, || self.start_commit(pools, fullest, writer, ahead));
            } else if state.is_under_way() {
                self.wait_over(&mut state, began)?;
            } else if let Some(refused) = state.fullest_refused() {
                // This file's COMMIT failed, and its data fills the memory. Try once more, then drop the data.
                let again = || self.commit_as_writer(pools, &refused, Teller::Nobody);
                match MutexGuard::unlocked(&mut state, again) {
                    Ok(()) => {}
                    Err(FsError::Delay) => return Err(FsError::Delay),
                    Err(error) => state.give_up_refused(&refused, error),
                }
            } else {
                // Only what is gathered is left.
                drop(state);
                self.commit(pools, node, caller, Teller::User, &mut Change::default())?;
                return self.flush_all(pools);
            }
        }
        Ok(())
    }

    /// Writes at once, and holds what was written and is not durable.
    pub fn write_now(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        data: &DirtyPiece,
        stability: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        let range = data.range();
        self.make_room(pools, node, data.bytes.len(), &data.caller)?;
        {
            let mut state = self.state.lock();
            self.wait_for_older(&mut state, pools, node, &range)?;
            state.take_failure(node)?;
            // The thread that writes lost data again must see that this is newer.
            state.send_off(node, [range.clone()]);
        }
        let since = self.state.lock().known.moment();
        let shared = Data::Shared(data.bytes.clone());
        let outcome =
            self.inner.write(&data.caller, WriteFile::new(node, data.offset, shared, stability), change);
        let mut state = self.state.lock();
        Self::hide(&mut state, node, change);
        state.file(node).arrived(&range);
        state.on_answer(&outcome);
        if let Ok(Written { count, stability, verifier }) = outcome {
            let bytes = data.bytes.slice(..count.min(data.bytes.len()));
            state.file(node).writer = Some(data.caller.clone());
            state.file(node).trusted = true;
            state
                .wrote(node, [Answered { piece: DirtyPiece { bytes, ..data.clone() }, stability, verifier }]);
            self.learn(&mut state, node, change, since);
            state.known.may(node, &data.caller, Access::MODIFY);
        }
        Self::overlay(&mut state, node, change);
        let ahead = state.commit_ahead(node, false);
        state.forget(node);
        drop(state);
        if let Some(ahead) = ahead {
            self.start_commit(pools, *node, Some(data.caller.clone()), ahead);
        }
        self.over.notify_all();
        outcome
    }

    /// Waits until all data of a file that was taken before has been written, if not committed.
    pub fn flush(self: &Arc<Self>, pools: &Arc<Pools>, node: &Handle) -> Result<()> {
        let mut state = self.state.lock();
        let last = self.send(&mut state, pools, node);
        self.wait_sent(&mut state, node, last)
    }

    /// The same for all files.
    pub fn flush_all(self: &Arc<Self>, pools: &Arc<Pools>) -> Result<()> {
        self.nodes().iter().try_for_each(|node| self.flush(pools, node))
    }

    /// Waits until none of these bytes are gathered or on their way.
    pub fn flush_range(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        range: &Range<u64>,
    ) -> Result<()> {
        self.wait_for_older(&mut self.state.lock(), pools, node, range)
    }

    /// Gives up all data of a file that is not durable: it is not sent any more. The next write or commit of the file reports the error.
    pub fn give_up(&self, node: &Handle, error: FsError) {
        let mut state = self.state.lock();
        let Some(gathered) = state.files.get_mut(node).map(File::give_up) else { return };
        state.held -= gathered;
        let error = if error == FsError::Delay { FsError::Io } else { error };
        state.drop_uncommitted(node, Some(error));
        let file = state.file(node);
        // It is the error of the same data.
        (file.commit_failed, file.commit_error) = (false, None);
        drop(state);
        self.over.notify_all();
    }

    /// Whether data of a file that is on its way was given up.
    fn is_given_up(&self, node: &Handle) -> bool {
        self.state.lock().files.get(node).is_some_and(|file| file.is_given_up)
    }

    /// Whether data of this file is not durable yet, or a failure was not reported yet.
    pub fn holds(&self, node: &Handle) -> bool {
        self.state.lock().files.get(node).is_some_and(|file| !file.is_forgettable())
    }

    /// The files with data that is not durable.
    pub fn nodes(&self) -> Vec<Handle> {
        self.state.lock().files.keys().copied().collect()
    }

    /// Whether a write of this caller will be taken, as far as is known. One that takes set-ID bits away is left to the server, so that
    /// they are seen to be gone.
    pub fn may_write(&self, node: &Handle, caller: &Caller) -> bool {
        let mut state = self.state.lock();
        if state.known.attributes(node).is_some_and(|known| known.mode & SET_ID != 0) {
            return false;
        }
        let took =
            state.files.get(node).is_some_and(|file| file.trusted && file.writer.as_ref() == Some(caller));
        took || state.known.may_write(node, caller)
    }

    /// What callers saw of a file while data of it was held, if that was another time of change.
    pub fn told(&self, node: &Handle) -> Option<Attributes> {
        let mut state = self.state.lock();
        let known = state.known.attributes(node)?;
        let shown = state.overlaid(node, known);
        (shown.version() != known.version()).then_some(shown)
    }

    /// A file's size was set.
    pub fn sized(&self, node: &Handle) {
        if let Some(file) = self.state.lock().files.get_mut(node) {
            file.sized();
        }
    }

    pub fn write_again(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        pools: &Arc<Pools>,
        node: &Handle,
        pieces: Vec<DirtyPiece>,
    ) {
        state.written_again += pieces.len() as u64;
        state.held += pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
        // All of them before any waits for room: another writer of the same bytes must see that these are first.
        state.send_off(node, pieces.iter().map(DirtyPiece::range));
        for piece in pieces {
            self.launch(state, pools, node, piece, None);
        }
    }

    /// Starts the call for what is gathered; gives the number of the last call for data that was there before.
    pub fn send(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        pools: &Arc<Pools>,
        node: &Handle,
    ) -> u64 {
        let gathered = state.files.get_mut(node).and_then(File::take);
        // Before the wait: a later write of the same bytes must see that this one is older.
        state.send_off(node, gathered.as_ref().map(DirtyPiece::range));
        let last = state.sent;
        if let Some(piece) = gathered {
            self.launch(state, pools, node, piece, None);
        }
        last
    }

    /// Sends all that is held of a file by one durable write, so that a caller may set attributes at the same time. Gives that write, also
    /// if it is under way already. `None`: one must come after the other.
    pub fn send_whole(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        caller: &Caller,
        new: &NewAttributes,
    ) -> Option<Arc<WholeWrite>> {
        let mut state = self.state.lock();
        if !state.may_set_with_data(node, caller, new) {
            return None;
        }
        let file = state.files.get_mut(node)?;
        if let Some(under_way) = &file.whole_write {
            return Some(Arc::clone(under_way));
        }
        let piece = file.take()?;
        let whole = Arc::new(WholeWrite::of(piece.bytes.len()));
        file.whole_write = Some(Arc::clone(&whole));
        state.send_off(node, [piece.range()]);
        self.launch(&mut state, pools, node, piece, Some(Arc::clone(&whole)));
        Some(whole)
    }

    /// The durable write of all that is held of a file, if it is under way.
    pub fn whole_write(&self, node: &Handle) -> Option<Arc<WholeWrite>> {
        self.state.lock().files.get(node)?.whole_write.clone()
    }

    /// Sets attributes of a file while all its data is written, and once more what that write may have changed after them.
    pub fn set_with_data(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        caller: &Caller,
        (node, new): (&Handle, &NewAttributes),
        whole: &WholeWrite,
        change: &mut Change,
    ) -> Result<()> {
        let sets_time = matches!(new.modified, SetTime::To(_));
        let is_written = sets_time && self.is_written_soon(node, whole);
        let began = Instant::now();
        let set = self.inner.set_attributes(caller, SetAttributes::new(node, new, None), change);
        let took = began.elapsed();
        // The next write or commit of the file reports what this write is refused with.
        self.flush(pools, node)?;
        if let Some(wrote) = whole.took() {
            self.state.lock().head_start.both_took((wrote, whole.bytes()), took);
        }
        set?;
        match new.modified {
            SetTime::To(modified) if !is_written && !whole.is_before(change, modified) => {
                let again = NewAttributes { modified: new.modified, ..NewAttributes::default() };
                *change = Change::default();
                self.inner.set_attributes(caller, SetAttributes::new(node, &again, None), change)
            }
            _ => Ok(()),
        }
    }

    /// Gives a write a head start, so that the server has it first. Says whether it is over: that is so where the server is near.
    fn is_written_soon(&self, node: &Handle, whole: &WholeWrite) -> bool {
        let mut state = self.state.lock();
        let end = Instant::now() + state.head_start.of(whole.bytes());
        let is_it = |file: &File| file.whole_write.as_ref().is_some_and(|its| std::ptr::eq(&**its, whole));
        while state.files.get(node).is_some_and(is_it) {
            if self.over.wait_until(&mut state, end).timed_out() {
                return !state.files.get(node).is_some_and(is_it);
            }
        }
        true
    }

    /// Whether all that is held of a file was written by one durable write, and no error of it waits; forgets the file then.
    pub fn wrote_whole(&self, node: &Handle) -> bool {
        let mut state = self.state.lock();
        let is_durable = state.files.get(node).is_some_and(|file| file.wrote_whole && file.is_forgettable());
        if is_durable {
            state.files.remove(node);
        }
        is_durable
    }

    /// Waits until nothing of these bytes is gathered or on its way: what is written next is newer.
    fn wait_for_older(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        pools: &Arc<Pools>,
        node: &Handle,
        range: &Range<u64>,
    ) -> Result<()> {
        let began = Instant::now();
        while state.overlaps(node, range) {
            self.send(state, pools, node);
            if state.overlaps(node, range) {
                self.wait_over(state, began)?;
            }
        }
        Ok(())
    }

    /// Waits for the calls for data of a file up to this one: others may write on without a pause.
    pub fn wait_sent(&self, state: &mut MutexGuard<'_, State>, node: &Handle, last: u64) -> Result<()> {
        let began = Instant::now();
        while state.files.get(node).is_some_and(|file| file.is_on_the_way(Some(last))) {
            self.wait_over(state, began)?;
        }
        Ok(())
    }

    /// Waits for a call to be over, on behalf of a caller that waits since `began`: refuses when none has ended for too long.
    pub fn wait_over(&self, state: &mut MutexGuard<'_, State>, began: Instant) -> Result<()> {
        let Some(patience) = self.options.patience else {
            self.over.wait(state);
            return Ok(());
        };
        let is_late = |state: &State| began.max(state.answered).elapsed() >= patience;
        let end = began.max(state.answered) + patience;
        let waited = self.over.wait_until(state, end);
        if waited.timed_out() && is_late(state) { Err(FsError::Delay) } else { Ok(()) }
    }

    /// Writes a piece, in as many calls as it takes, and again while the server is away, unless it was given up: its data was taken.
    pub fn write(
        &self,
        node: &Handle,
        piece: &DirtyPiece,
        how: Stability,
        change: &mut Change,
    ) -> Result<Vec<Answered>> {
        while !self.is_given_up(node) {
            match self.write_as(node, piece, how, change) {
                Err(FsError::Delay) => std::thread::sleep(AGAIN),
                outcome => return outcome,
            }
        }
        Err(FsError::Delay)
    }

    pub fn write_as(
        &self,
        node: &Handle,
        piece: &DirtyPiece,
        how: Stability,
        change: &mut Change,
    ) -> Result<Vec<Answered>> {
        let (mut done, mut answers) = (0, Vec::new());
        while done < piece.bytes.len() {
            let (rest, offset) = (piece.bytes.slice(done..), piece.offset + done as u64);
            let (data, since) = (Data::Shared(rest.clone()), self.state.lock().known.moment());
            let Written { count, stability, verifier } =
                self.inner.write(&piece.caller, WriteFile::new(node, offset, data, how), change)?;
            if count == 0 {
                return Err(FsError::Io);
            }
            self.learn(&mut self.state.lock(), node, change, since);
            let count = count.min(rest.len());
            let piece = DirtyPiece { caller: piece.caller.clone(), offset, bytes: rest.slice(..count) };
            answers.push(Answered { piece, stability, verifier });
            done += count;
        }
        Ok(answers)
    }

    /// Callers get a change in the server's word. What the file was before means nothing to them if they saw something else.
    pub fn hide(state: &mut State, node: &Handle, change: &mut Change) {
        if state.known.take_told(node).is_some() {
            change.before = None;
        }
    }

    /// Callers see data that the server has not got yet, also in the answer to another change.
    pub fn overlay(state: &mut State, node: &Handle, change: &mut Change) {
        if let Some(after) = &mut change.after {
            *after = state.overlaid(node, *after);
            state.known.told(node, after);
        }
    }

    /// Takes the attributes in the reply to a write that began at `since`.
    pub fn learn(&self, state: &mut State, node: &Handle, change: &Change, since: u64) {
        if let Some(after) = &change.after {
            state.known.saw_written(node, after, since);
            // Unlike that of the data, nobody sets this time to another than now.
            state.clock.saw(after.changed);
        }
    }

    /// A call was answered.
    pub fn finished(&self, started: Started, size: usize) {
        let now = self.start.elapsed();
        self.state.lock().flight.on_finish(now, started, size);
    }
}
