//! What of one file is still to be copied, on its way, written, and committed. Pure.

use std::ops::Range;

use super::ranges::RangeSet;

/// The write verifier that a write was answered with.
pub(super) type Verifier = [u8; 8];

/// After so many commits in a row that found data lost, blocks are written stably: a server that restarts that often,
/// or gives every answer another verifier, would else never be done.
const MOST_LOSSES: u32 = 8;

/// Unstable writes by verifier. Nearly always one.
pub(super) type Batch = Vec<(Verifier, RangeSet)>;

/// The state of a file's data.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    todo: RangeSet,
    /// Blocks taken and not yet given back.
    in_flight: usize,
    written: Batch,
    written_bytes: u64,
    committing: bool,
    committed: RangeSet,
    /// What of `committed` has not been reported yet.
    news: RangeSet,
    losses: u32,
    /// Nothing more may be taken: the copy failed or was stopped.
    closed: bool,
    /// All is committed: nothing is left to be recorded either.
    done: bool,
}

/// How a block was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It is durable, or needed no writing.
    Durably,
    /// It is safe once a commit answers this verifier.
    Unstably(Verifier),
}

/// What is to be done when nothing can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Others are at it.
    Nothing,
    /// All blocks are written: commit.
    Commit,
    /// All is committed; said once.
    Done,
}

impl Ledger {
    /// A file of this size, of which some ranges are there already.
    pub(super) fn new(size: u64, committed: RangeSet) -> Self {
        Self { todo: committed.missing(size), committed, ..Self::default() }
    }

    /// The next block to copy, of at most so many bytes.
    pub(super) fn take(&mut self, most: u64) -> Option<Range<u64>> {
        let range = if self.closed { None } else { self.todo.take_first(most) }?;
        self.in_flight += 1;
        Some(range)
    }

    /// Whether another block can be taken.
    pub(super) fn has_more(&self) -> bool {
        !self.closed && !self.todo.is_empty()
    }

    /// A block that was taken is written.
    pub(super) fn written(&mut self, range: Range<u64>, parts: impl IntoIterator<Item = (Range<u64>, How)>) {
        self.in_flight -= 1;
        // What no part covers is a hole.
        let mut holes = RangeSet::of(range.clone());
        let mut rest = RangeSet::default();
        for (part, how) in parts {
            rest.insert(part.clone());
            match how {
                How::Durably => self.settle(&RangeSet::of(part)),
                How::Unstably(verifier) => {
                    self.written_bytes += part.end - part.start;
                    add(&mut self.written, verifier, &RangeSet::of(part));
                }
            }
        }
        if !rest.is_empty() {
            holes = gaps(&range, &rest);
        }
        self.settle(&holes);
    }

    /// A block that was taken begins a hole that reaches up to `end`. What of it nobody has taken needs no copying either. Gives
    /// the bytes of both.
    pub(super) fn skip(&mut self, block: Range<u64>, end: u64) -> u64 {
        self.in_flight -= 1;
        let mut hole = self.todo.take_within(block.end..end);
        hole.insert(block);
        self.settle(&hole);
        hole.bytes()
    }

    fn settle(&mut self, ranges: &RangeSet) {
        self.committed.extend(ranges);
        self.news.extend(ranges);
    }

    /// What was committed since this was asked last.
    pub(super) fn take_news(&mut self) -> RangeSet {
        std::mem::take(&mut self.news)
    }

    /// A block that was taken could not be written, or is given back.
    pub(super) fn put_back(&mut self, range: Range<u64>) {
        self.in_flight -= 1;
        self.todo.insert(range);
    }

    /// Nothing more may be taken. Says whether this is the first word of it.
    pub(super) fn close(&mut self) -> bool {
        !std::mem::replace(&mut self.closed, true)
    }

    /// Whether blocks are with workers, or a commit is.
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight > 0 || self.committing
    }

    /// Whether a commit is under way.
    pub(super) fn is_committing(&self) -> bool {
        self.committing
    }

    /// Bytes written and not committed, or committed and not reported.
    pub(super) fn unsettled(&self) -> u64 {
        self.written_bytes + self.news.bytes()
    }

    /// Whether blocks had better be written stably.
    pub(super) fn wants_stable_writes(&self) -> bool {
        self.losses >= MOST_LOSSES
    }

    /// Whether all is committed: [`Self::next`] gives [`Next::Done`].
    pub(super) fn is_complete(&self) -> bool {
        !self.closed && self.in_flight == 0 && self.todo.is_empty() && self.written.is_empty()
    }

    /// What is to be done when nothing can be taken. [`Next::Done`] closes the ledger, so that one worker hears it.
    pub(super) fn next(&mut self) -> Next {
        if self.closed || self.is_busy() || !self.todo.is_empty() {
            return Next::Nothing;
        }
        if !self.written.is_empty() {
            return Next::Commit;
        }
        (self.closed, self.done) = (true, true);
        Next::Done
    }

    /// What a commit that begins now covers, which may be nothing but news to be recorded; `None` if one is under way or
    /// there is neither, or all is done and the journal perhaps gone. It is under way until [`Self::commit_over`].
    pub(super) fn begin_commit(&mut self) -> Option<Batch> {
        if self.committing || self.done || (self.written.is_empty() && self.news.is_empty()) {
            return None;
        }
        self.committing = true;
        self.written_bytes = 0;
        Some(std::mem::take(&mut self.written))
    }

    /// The commit answered: what was written under another verifier is lost and must be sent again. Gives the bytes
    /// that were lost.
    pub(super) fn end_commit(&mut self, batch: Batch, verifier: Verifier) -> u64 {
        let (mut kept, mut lost) = (RangeSet::default(), 0);
        for (written_under, ranges) in batch {
            if written_under == verifier {
                kept.extend(&ranges);
            } else {
                lost += ranges.bytes();
                self.todo.extend(&ranges);
            }
        }
        self.settle(&kept);
        self.losses = if lost == 0 { 0 } else { self.losses + 1 };
        lost
    }

    /// A commit, and the recording of what it made certain, is over.
    pub(super) fn commit_over(&mut self) {
        self.committing = false;
    }
}

fn add(batch: &mut Batch, verifier: Verifier, ranges: &RangeSet) {
    match batch.iter_mut().find(|(other, _)| *other == verifier) {
        Some((_, known)) => known.extend(ranges),
        None => batch.push((verifier, ranges.clone())),
    }
}

/// What of `range` the parts leave out.
fn gaps(range: &Range<u64>, parts: &RangeSet) -> RangeSet {
    let mut gaps = RangeSet::default();
    let mut at = range.start;
    for part in parts.iter() {
        gaps.insert(at..part.start);
        at = part.end;
    }
    gaps.insert(at..range.end);
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Verifier = *b"old boot";
    const NEW: Verifier = *b"new boot";

    fn copy_all(ledger: &mut Ledger, verifier: Verifier) {
        while let Some(range) = ledger.take(4) {
            ledger.written(range.clone(), [(range, How::Unstably(verifier))]);
        }
    }

    #[test]
    fn all_is_taken_once_and_done_is_said_once() {
        let mut ledger = Ledger::new(10, RangeSet::of(2..6));
        assert_eq!(ledger.take(4), Some(0..2));
        assert_eq!(ledger.next(), Next::Nothing);
        ledger.written(0..2, [(0..2, How::Durably)]);
        copy_all(&mut ledger, OLD);
        assert_eq!(ledger.next(), Next::Commit);
        let batch = ledger.begin_commit().expect("something is written");
        assert_eq!((ledger.begin_commit(), ledger.next()), (None, Next::Nothing));
        assert!(ledger.is_complete());
        assert_eq!(ledger.take_news(), RangeSet::of(0..2));
        assert_eq!(ledger.end_commit(batch, OLD), 0);
        assert_eq!((ledger.take_news(), ledger.next()), (RangeSet::of(6..10), Next::Nothing));
        ledger.commit_over();
        assert_eq!((ledger.next(), ledger.next()), (Next::Done, Next::Nothing));
    }

    #[test]
    fn what_another_verifier_lost_is_sent_again() {
        let mut ledger = Ledger::new(8, RangeSet::default());
        let first = ledger.take(4).expect("a block");
        ledger.written(first.clone(), [(first, How::Unstably(OLD))]);
        copy_all(&mut ledger, NEW);
        let batch = ledger.begin_commit().expect("written");
        assert_eq!((ledger.end_commit(batch, NEW), ledger.take_news()), (4, RangeSet::of(4..8)));
        ledger.commit_over();
        assert_eq!(ledger.next(), Next::Nothing);
        copy_all(&mut ledger, NEW);
        let batch = ledger.begin_commit().expect("written");
        assert_eq!(ledger.end_commit(batch, NEW), 0);
        ledger.commit_over();
        assert_eq!(ledger.next(), Next::Done);
    }

    #[test]
    fn a_server_that_loses_for_ever_is_written_to_stably() {
        let mut ledger = Ledger::new(4, RangeSet::default());
        for _ in 0..MOST_LOSSES {
            assert!(!ledger.wants_stable_writes());
            copy_all(&mut ledger, OLD);
            let batch = ledger.begin_commit().expect("written");
            ledger.end_commit(batch, NEW);
            ledger.commit_over();
        }
        assert!(ledger.wants_stable_writes());
    }

    #[test]
    fn holes_need_no_commit() {
        let mut ledger = Ledger::new(10, RangeSet::default());
        let block = ledger.take(16).expect("a block");
        ledger.written(block, [(2..4, How::Unstably(OLD)), (6..8, How::Unstably(OLD))]);
        assert_eq!((ledger.unsettled(), ledger.committed.bytes()), (10, 6));
        let hole = Ledger::new(4, RangeSet::default()).take(4).expect("a block");
        assert_eq!(hole, 0..4);
    }

    #[test]
    fn a_hole_is_skipped_but_for_what_others_have_taken() {
        let mut ledger = Ledger::new(20, RangeSet::of(9..10));
        let (first, other) = (ledger.take(4).expect("a block"), ledger.take(4).expect("a block"));
        assert_eq!(ledger.skip(first, 16), 11);
        assert_eq!((ledger.take(4), ledger.committed.bytes()), (Some(16..20), 12));
        assert!(ledger.is_busy(), "{other:?} is with another");
        let mut ledger = Ledger::new(5, RangeSet::default());
        let block = ledger.take(8).expect("a block");
        assert_eq!((ledger.skip(block, 5), ledger.next()), (5, Next::Done));
    }

    #[test]
    fn what_is_done_needs_no_commit_that_somebody_thought_of_before() {
        let mut ledger = Ledger::new(4, RangeSet::default());
        let range = ledger.take(4).expect("a block");
        ledger.written(range.clone(), [(range, How::Durably)]);
        assert!(ledger.unsettled() > 0, "it is to be recorded");
        assert_eq!(ledger.next(), Next::Done);
        assert!(ledger.begin_commit().is_none());
    }

    #[test]
    fn what_was_put_back_comes_again_unless_closed() {
        let mut ledger = Ledger::new(4, RangeSet::default());
        let block = ledger.take(4).expect("a block");
        ledger.put_back(block.clone());
        assert_eq!(ledger.take(4), Some(block.clone()));
        ledger.put_back(block);
        assert!(ledger.close() && !ledger.close());
        assert_eq!(ledger.take(4), None);
    }
}
