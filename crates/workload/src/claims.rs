//! Who moves which piece of a stream next. Pieces go out in order. A pass of writes begins when the one before is complete, so
//! that no piece is in two hands at once; one of reads follows without a pause, which on a long path costs a round trip.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::control::Turn;
use super::ledger::Range;
use super::plan::WorkloadPlan;
use super::target_file::TargetFile;

/// How long a thread waits for the end of a pass before it looks whether all is over.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The pieces of one stream: its files, one after the other.
pub(super) struct Claims<'a> {
    files: Vec<Queued<'a>>,
    pieces: u64,
    repeats: bool,
    /// Whether the next pass may begin before all of this one is done.
    overlaps: bool,
    record_bytes: u64,
    transfer_bytes: u64,
    turns: Mutex<Turns>,
    turned: Condvar,
    records: Mutex<HashMap<(usize, u64), Record>>,
}

struct Queued<'a> {
    file: &'a TargetFile,
    /// Number of its first piece.
    first: u64,
    /// Pieces that are done, of all passes.
    done: AtomicU64,
}

struct Turns {
    next: u64,
    settled: u64,
}

struct Record {
    began: Instant,
    left: u64,
}

/// A piece to move.
pub(super) struct Claim<'a> {
    pub(super) file: &'a TargetFile,
    pub(super) range: Range,
    index: usize,
    began: Instant,
}

impl<'a> Claims<'a> {
    /// Of these files, again and again if the plan has a time.
    pub(super) fn new(plan: &WorkloadPlan, files: impl IntoIterator<Item = &'a TargetFile>) -> Self {
        let mut pieces = 0;
        let queued = files.into_iter().map(|file| {
            let first = pieces;
            pieces += file.units();
            Queued { file, first, done: AtomicU64::new(0) }
        });
        let files = queued.collect();
        Self {
            files,
            pieces,
            repeats: plan.time.is_some(),
            overlaps: !plan.workload.writes() && plan.record_bytes == plan.transfer_bytes,
            record_bytes: plan.record_bytes,
            transfer_bytes: plan.transfer_bytes,
            turns: Mutex::new(Turns { next: 0, settled: 0 }),
            turned: Condvar::new(),
            records: Mutex::default(),
        }
    }

    /// The next piece, for any caller; none when all is done or the turn is over.
    pub(super) fn claim(&self, turn: &Turn<'_>) -> Option<Claim<'a>> {
        let mut turns = self.turns.lock();
        loop {
            if turn.is_over() || self.pieces == 0 {
                return None;
            }
            if turns.next < self.pieces {
                turns.next += 1;
                return Some(self.piece(turns.next - 1));
            }
            if !self.repeats {
                return None;
            }
            if self.overlaps || turns.settled == self.pieces {
                *turns = Turns { next: 0, settled: 0 };
                self.turned.notify_all();
            } else {
                self.turned.wait_for(&mut turns, LOOK_AGAIN);
            }
        }
    }

    fn piece(&self, number: u64) -> Claim<'a> {
        let index = self.files.partition_point(|queued| queued.first <= number) - 1;
        let Queued { file, first, .. } = self.files[index];
        let claim = Claim { file, range: file.unit(number - first), index, began: Instant::now() };
        if self.record_bytes > self.transfer_bytes {
            let key = self.record_of(&claim);
            let began = claim.began;
            let left = || Record { began, left: self.pieces_of_record(file, key.1) };
            self.records.lock().entry(key).or_insert_with(left);
        }
        claim
    }

    fn record_of(&self, claim: &Claim<'_>) -> (usize, u64) {
        (claim.index, claim.range.offset / self.record_bytes)
    }

    fn pieces_of_record(&self, file: &TargetFile, record: u64) -> u64 {
        let length = self.record_bytes.min(file.size - record * self.record_bytes);
        length.div_ceil(self.transfer_bytes)
    }

    /// The piece is moved. If that makes its record complete: when the record began.
    pub(super) fn moved(&self, claim: &Claim<'_>) -> Option<Instant> {
        if self.record_bytes == self.transfer_bytes {
            return Some(claim.began);
        }
        let mut records = self.records.lock();
        let key = self.record_of(claim);
        let record = records.get_mut(&key)?;
        record.left -= 1;
        if record.left > 0 {
            return None;
        }
        records.remove(&key).map(|record| record.began)
    }

    /// Whether the piece was the last of its file in this pass.
    pub(super) fn completes_file(&self, claim: &Claim<'_>) -> bool {
        let queued = &self.files[claim.index];
        let done = queued.done.fetch_add(1, Ordering::AcqRel) + 1;
        done.is_multiple_of(queued.file.units())
    }

    /// All that the piece brought with it is done too.
    pub(super) fn settled(&self) {
        if self.overlaps {
            return;
        }
        let mut turns = self.turns.lock();
        turns.settled += 1;
        if turns.settled == self.pieces {
            self.turned.notify_all();
        }
    }
}
