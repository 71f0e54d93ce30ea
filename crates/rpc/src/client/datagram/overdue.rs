//! Bulk calls that are long overdue while many others, sent later, are answered: lost, as is known long before their
//! timer runs out, which must allow for a disk. They are sent again at once, or made smaller.
//!
//! One that was answered all the same teaches patience: nothing that took so long is taken for lost again.

use std::time::Instant;

use super::entry::{Entry, State};
use super::peer::Peer;
use crate::client::ReplaySafety;

/// Answers from one look to the next: a look takes as long as there are calls.
const LOOK_EVERY: u32 = 16;
/// Calls sent later that must be answered first (as TCP waits for three: RFC 5681 3.2).
const OTHERS: u64 = 3;
/// How much longer than usual.
const TIMES_USUAL: u32 = 4;

impl<C> Peer<C> {
    /// To be called for every answer. Nothing is judged yet: the answers of those that it overtook may be here too.
    pub(super) fn answer_came(&mut self, now: Instant) {
        if self.is_local {
            // Between programs of one host nothing is lost but by full buffers, and answers that are late come from threads
            // that wait for a processor.
            return;
        }
        self.patience.until_look = self.patience.until_look.saturating_sub(1);
        if self.patience.until_look == 0 {
            self.patience.until_look = LOOK_EVERY;
            let due = self.table.iter().filter_map(|entry| self.overdue_at(now, entry)).min();
            self.overdue = due;
        }
    }

    /// Sends again what is overdue, and finds out when the next call is, should no more answers come.
    pub(super) fn look_for_overdue(&mut self, now: Instant) {
        self.overdue = None;
        for index in self.table.indices() {
            let Some(at) = self.table.get(index).and_then(|entry| self.overdue_at(now, entry)) else {
                continue;
            };
            if at <= now {
                self.lose(now, index);
            } else {
                self.overdue = self.overdue.into_iter().chain([at]).min();
            }
        }
    }

    /// When a call is overdue that others have overtaken.
    fn overdue_at(&self, now: Instant, entry: &Entry<C>) -> Option<Instant> {
        let class = entry.new.class;
        let moves = class.is_bulk() && entry.new.replay == ReplaySafety::Idempotent;
        if entry.state != State::InFlight || !moves || self.answered_order < entry.order + OTHERS {
            return None;
        }
        let usual = self.estimators[class as usize].usual() * TIMES_USUAL;
        Some(entry.last.at + usual.max(self.patience.get(now)))
    }
}
