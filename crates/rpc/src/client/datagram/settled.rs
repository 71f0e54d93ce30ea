//! Calls that were sent more than once and are done with: whether a second reply comes shows whether the first sending was
//! lost.

use std::collections::VecDeque;
use std::time::Instant;

use crate::client::Class;

/// The most that are remembered; each is some 100 bytes.
const MOST: usize = 1024;

/// A call that is done with, as far as a late reply says something about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    pub(super) xid: u32,
    pub(super) class: Class,
    pub(super) first: Instant,
    /// When its answer came; `None`: it was given back without.
    pub(super) answered: Option<Instant>,
    pub(super) timed_out: Instant,
    /// Its size, if it counted as lost.
    pub(super) lost: Option<Option<usize>>,
    pub(super) until: Instant,
}

/// Those that a late reply is awaited for.
#[derive(Debug, Default)]
pub(super) struct SettledCalls {
    calls: VecDeque<Settled>,
}

impl SettledCalls {
    pub(super) fn push(&mut self, now: Instant, settled: Settled) {
        while self.calls.len() >= MOST || self.calls.front().is_some_and(|call| call.until < now) {
            self.calls.pop_front();
        }
        self.calls.push_back(settled);
    }

    /// The one remembered last was answered.
    pub(super) fn answered(&mut self, now: Instant) {
        if let Some(last) = self.calls.back_mut() {
            last.answered = Some(now);
        }
    }

    /// The call of a late reply.
    pub(super) fn take(&mut self, now: Instant, xid: u32) -> Option<Settled> {
        let at = self.calls.iter().rposition(|call| call.xid == xid)?;
        self.calls.remove(at).filter(|call| now <= call.until)
    }
}
