//! What is held of all files, under one lock. Knows no file system.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use howdah_tune::flight::Flight;
use howdah_vfs::{Attributes, Before, Caller, Change, FsError, Handle, NewAttributes, Result, SetTime};

use super::clock::ServerClock;
use super::file::{Answered, File};
use super::known::KnownFiles;
use super::with_data::HeadStart;
use super::{WriteBehindOptions, WriteBehindReport};
use crate::file::Lost;
use crate::generations::Generations;

/// Which part of the memory is written to a file before it is committed, though nobody asked: small enough that several such
/// parts are on their way to safety while more is written.
const COMMITTED_PART: usize = 8;
/// The most files of which losses are counted.
const LOSSES_MAX: usize = 1 << 14;
/// The most files whose error is kept for the next caller. Further errors are dropped: a changed verifier shows the loss.
const FAILURES_MAX: usize = 1024;
/// The most such COMMITs of one file at a time.
const COMMITS_MAX: usize = 4;

/// The bits of a mode that a write takes away.
pub const SET_ID: u32 = 0o6000;

/// Who receives the error of a failed write or COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teller {
    /// The program that writes or commits the file.
    User,
    /// Nobody now. The next write or commit of the file reports it.
    Nobody,
}

/// A COMMIT that nobody asked for.
#[derive(Debug, Clone, Copy)]
pub struct CommitAhead {
    pub number: u64,
    /// It makes data safe that was written before.
    pub moment: u64,
}

/// The state of the thread that sends gathered data after a time limit.
#[derive(Default)]
pub struct AgingState {
    /// It sleeps until a write gathers data.
    pub sleeps: bool,
    /// It is to end.
    pub ends: bool,
}

/// Everything.
pub struct State {
    pub files: HashMap<Handle, File>,
    pub known: KnownFiles,
    pub clock: ServerClock,
    pub head_start: HeadStart,
    pub held: usize,
    pub flight: Flight,
    pub written: u64,
    /// The number of the call for data of a file that was sent last.
    pub sent: u64,
    pub written_again: u64,
    pub committed_ahead: u64,
    pub waited_for_memory: u64,
    /// Writes whose data was taken, and that are answered when it is durable.
    pub waiting_answers: usize,
    /// How many of them were answered all the same, and whose callers have sent nothing since.
    pub let_go: usize,
    /// When a call to the server ended last, or the first of those in flight began.
    pub answered: Instant,
    /// How often data of each file was given up, and how often such counts were forgotten.
    losses: Generations<Handle, u64>,
    losses_forgotten: u64,
    pub aging: AgingState,
    options: WriteBehindOptions,
}

impl State {
    pub fn new(options: WriteBehindOptions, flight: Flight) -> Self {
        Self {
            files: HashMap::new(),
            known: KnownFiles::default(),
            clock: ServerClock::default(),
            head_start: HeadStart::default(),
            held: 0,
            flight,
            written: 0,
            sent: 0,
            written_again: 0,
            committed_ahead: 0,
            waited_for_memory: 0,
            waiting_answers: 0,
            let_go: 0,
            answered: Instant::now(),
            losses: Generations::new(LOSSES_MAX),
            losses_forgotten: 0,
            aging: AgingState::default(),
            options,
        }
    }

    pub fn report(&self) -> WriteBehindReport {
        WriteBehindReport {
            held: self.held,
            memory_budget: self.options.memory_budget,
            written: self.written,
            written_again: self.written_again,
            committed_ahead: self.committed_ahead,
            waited_for_memory: self.waited_for_memory,
            in_flight: self.flight.explain(),
        }
    }

    pub fn waiting_answers_max(&self) -> usize {
        self.options.waiting_answers
    }

    pub fn file(&mut self, node: &Handle) -> &mut File {
        self.files.entry(*node).or_default()
    }

    /// Calls are on their way with these bytes of a file.
    pub fn send_off(&mut self, node: &Handle, ranges: impl IntoIterator<Item = Range<u64>>) {
        for range in ranges {
            self.sent += 1;
            let number = self.sent;
            self.file(node).send_off(number, range);
        }
    }

    /// Whether any of these bytes are gathered or on their way.
    pub fn overlaps(&self, node: &Handle, range: &Range<u64>) -> bool {
        self.files.get(node).is_some_and(|file| file.overlaps(range))
    }

    /// Whether there is room for so much more. Whatever comes alone has.
    pub fn has_room(&self, size: usize) -> bool {
        self.held == 0 || self.held + size <= self.options.memory_budget
    }

    /// Data of a file was taken until so far: what the file is like before and after, if that is known.
    pub fn took(&mut self, node: &Handle, end: u64) -> Change {
        let known = self.known.attributes(node);
        let before = known.map(|known| self.overlaid(node, known));
        let last = before.map(|before| before.modified.max(before.changed)).unwrap_or_default();
        let shown = self.known.take_told(node).or(before.as_ref().map(Before::from));
        let stamp = self.clock.after(last);
        let file = self.file(node);
        file.taken(end, stamp);
        let after = known.map(|known| self.overlaid(node, known));
        if let Some(after) = &after {
            self.known.told(node, after);
        }
        Change { before: shown, after }
    }

    /// What a file is like with the data that the server has not got yet, if this is what the server says.
    pub fn overlaid(&self, node: &Handle, server: Attributes) -> Attributes {
        self.files.get(node).map_or(server, |file| file.overlaid(server))
    }

    /// Whether attributes of a file can be set before data that is held is written: the outcome is the same.
    pub fn may_overtake(&self, node: &Handle, caller: &Caller, new: &NewAttributes) -> bool {
        // Who sets a mode owns the file, and may write it whatever the mode. Writing takes set-ID bits away, and changes times.
        let is_writer = |file: &File| file.writer.as_ref().is_none_or(|writer| writer == caller);
        self.files.get(node).is_none_or(is_writer)
            && new.mode.is_none_or(|mode| mode & SET_ID == 0)
            && (new.user, new.group) == (None, None)
            && !matches!(new.modified, SetTime::To(_))
    }

    /// Whether all that is held of a file can be written by one durable WRITE while a caller sets attributes, with the same result as
    /// after it. The WRITE makes the file longer: other clients see a time that was set with the old size or with all data.
    pub fn may_set_with_data(&mut self, node: &Handle, caller: &Caller, new: &NewAttributes) -> bool {
        let Some(known) = self.known.attributes(node) else { return false };
        let is_kept = |new: Option<u32>, known: u32| new.is_none_or(|new| new == known);
        // Writing takes set-ID bits away, and a new owner may not write.
        new.size.is_none()
            && is_kept(new.user, known.user)
            && is_kept(new.group, known.group)
            && (known.mode | new.mode.unwrap_or(0)) & SET_ID == 0
            && self.files.get(node).is_some_and(|file| file.may_be_whole_write(caller, known.size))
    }

    /// A call to the server ended: with an answer, unless it could not be made.
    pub fn on_answer<T>(&mut self, outcome: &Result<T>) {
        if !matches!(outcome, Err(FsError::Delay)) {
            self.answered = Instant::now();
        }
    }

    /// Whether none of the calls in flight has ended for longer than a caller waits.
    pub fn is_silent(&self) -> bool {
        let is_over = |patience| self.answered.elapsed() >= patience;
        self.flight.in_flight() > 0 && self.options.patience.is_some_and(is_over)
    }

    /// Takes the answers to writes of a file.
    pub fn wrote(&mut self, node: &Handle, answers: impl IntoIterator<Item = Answered>) {
        self.holding(node, |file| answers.into_iter().for_each(|answered| file.wrote(answered)));
    }

    /// Takes the answer to a COMMIT that started at `moment`; gives what was lost.
    pub fn committed(&mut self, node: &Handle, moment: u64, verifier: [u8; 8]) -> Vec<Lost<Caller>> {
        self.holding(node, |file| file.uncommitted.committed(moment, verifier))
    }

    /// Drops data of a file that cannot be made durable. `untold`: the error, if no caller has received it.
    pub fn drop_uncommitted(&mut self, node: &Handle, untold: Option<FsError>) {
        match untold {
            Some(error) => self.lost(node, error),
            None => self.lost_and_told(node),
        }
        self.holding(node, |file| file.uncommitted.supersede(0, usize::MAX));
    }

    /// Returns the error of data that could not be written, once, to the next caller that changes the file.
    pub fn take_failure(&mut self, node: &Handle) -> Result<()> {
        let Some(error) = self.files.get_mut(node).and_then(|file| file.failed.take()) else { return Ok(()) };
        self.forget(node);
        Err(error)
    }

    /// Whether any of these bytes are on their way, or may still be written again.
    pub fn holds_any(&self, node: &Handle, range: &Range<u64>) -> bool {
        self.files.get(node).is_some_and(|file| file.overlaps(range) || file.uncommitted.overlaps(range))
    }

    /// Data of a file could not be written, and is given up. One caller gets the error; all others see another verifier.
    pub fn lost(&mut self, node: &Handle, error: FsError) {
        self.lost_and_told(node);
        self.make_room_for_error();
        self.file(node).failed = Some(error);
    }

    /// A COMMIT failed that no program asked for. The data is still held, but a later COMMIT may succeed without it: servers report an
    /// error of their disk once. So the next program that commits the file gets the error, and all others see another verifier.
    pub fn commit_failed(&mut self, node: &Handle, error: FsError) {
        self.lost_and_told(node);
        self.make_room_for_error();
        let file = self.file(node);
        (file.commit_failed, file.commit_error) = (true, Some(error));
    }

    fn make_room_for_error(&mut self) {
        let errors = self.files.values().filter(|file| file.has_error()).count();
        if errors >= FAILURES_MAX {
            self.files.values_mut().for_each(|file| (file.failed, file.commit_error) = (None, None));
            self.files.retain(|_, file| !file.is_forgettable());
        }
    }

    /// The same while the error is given to the caller at hand.
    pub fn lost_and_told(&mut self, node: &Handle) {
        let losses = self.losses.get_mut(node).map_or(1, |losses| *losses + 1);
        // Of a file whose count is forgotten nobody may see the verifier of before its losses.
        self.losses_forgotten += u64::from(self.losses.insert(*node, losses));
    }

    /// What clients are given as the verifier of writes to a file, if it began as this one. It changes with each loss, so that they
    /// write everything again that they did not commit (RFC 1813, 3.3.7).
    pub fn verifier(&mut self, node: &Handle, first: [u8; 8]) -> [u8; 8] {
        let losses = self.losses.get_mut(node).map_or(0, |losses| *losses);
        let changed = losses.wrapping_add(self.losses_forgotten << 32);
        u64::from_ne_bytes(first).wrapping_add(changed).to_ne_bytes()
    }

    /// A COMMIT that is worth starting though nobody asked, so that the data before this moment need not be held. `urgent`: the
    /// memory is full.
    pub fn commit_ahead(&mut self, node: &Handle, urgent: bool) -> Option<CommitAhead> {
        let usual = self.options.memory_budget / COMMITTED_PART;
        let part = if urgent { 1 } else { self.waited_part().unwrap_or(usual).min(usual) };
        let file = self.files.get_mut(node)?;
        let since = file.uncommitted.held_since(file.committing_until);
        if file.commit_failed || since < part.max(1) || file.commits_ahead.len() >= COMMITS_MAX {
            return None;
        }
        self.committed_ahead += 1;
        let ahead = CommitAhead { number: self.committed_ahead, moment: file.uncommitted.moment() };
        file.commits_ahead.push(ahead.number);
        file.committing_until = ahead.moment;
        Some(ahead)
    }

    /// The file of which most is written and not committed.
    pub fn fullest(&self) -> Option<Handle> {
        let held = |(_, file): &(&Handle, &File)| file.uncommitted.held();
        self.files
            .iter()
            .filter(|(_, file)| !file.uncommitted.is_empty() && !file.commit_failed)
            .max_by_key(held)
            .map(|(node, _)| *node)
    }

    /// Of the files whose COMMIT failed, the one that holds the most data.
    pub fn fullest_refused(&self) -> Option<Handle> {
        let refused =
            self.files.iter().filter(|(_, file)| file.commit_failed && !file.uncommitted.is_empty());
        refused.max_by_key(|(_, file)| file.uncommitted.held()).map(|(node, _)| *node)
    }

    /// Drops the data of a file whose COMMIT failed again. The next write or commit of the file reports the error.
    pub fn give_up_refused(&mut self, node: &Handle, error: FsError) {
        tracing::warn!(%error, "COMMIT was refused again: the data is given up, and the next write or commit of the file fails");
        self.drop_uncommitted(node, Some(error));
        let file = self.file(node);
        // It is the error of the same data.
        (file.commit_failed, file.commit_error) = (false, None);
    }

    /// The file whose gathered data is the oldest, and the time when that began.
    pub fn gathered_longest(&self) -> Option<(Handle, Instant)> {
        let gathered = self.files.iter().filter_map(|(node, file)| Some((*node, file.gathered_since()?)));
        gathered.min_by_key(|(_, since)| *since)
    }

    /// Whether memory becomes free by itself.
    pub fn is_under_way(&self) -> bool {
        self.files.values().any(|file| file.is_on_the_way(None) || !file.commits_ahead.is_empty())
    }

    /// A name leads nowhere, or elsewhere: whether writes to the file are taken is not known any more, nor to which one if the
    /// name was not known.
    pub fn lost_name(&mut self, directory: &Handle, name: &[u8]) {
        match self.known.lost(directory, name) {
            Some(file) => self.files.get_mut(&file).into_iter().for_each(|file| file.trusted = false),
            None => self.files.values_mut().for_each(|file| file.trusted = false),
        }
    }

    /// Forgets a file of which there is nothing to remember.
    pub fn forget(&mut self, node: &Handle) {
        if self.files.get(node).is_some_and(File::is_forgettable) {
            self.files.remove(node);
        }
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
