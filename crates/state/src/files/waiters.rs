//! Locks that are waited for, in the order in which they were asked for.

use std::time::Duration;

use super::lock_wish::LockWish;
use crate::ids::{ByteRange, LockKind, LockOwner};

/// A lock that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiter {
    /// Who waits.
    pub owner: LockOwner,
    /// For which bytes.
    pub range: ByteRange,
    /// And how.
    pub kind: LockKind,
    /// When it was first asked for.
    pub since: Duration,
    /// When it was last asked for.
    pub asked: Duration,
    /// The bytes are free and kept for it until then.
    pub turn_until: Option<Duration>,
}

impl Waiter {
    /// Whether it has a turn that keeps this lock from another owner.
    pub fn keeps(&self, owner: &LockOwner, range: ByteRange, kind: LockKind, now: Duration) -> bool {
        self.turn_until.is_some_and(|until| now < until)
            && self.owner != *owner
            && self.range.overlaps(range)
            && self.kind.excludes(kind)
    }

    /// Whether nothing is expected of it any more: its turn passed, or a client of NFSv4 did not ask for a lease. An NLM
    /// host waits until it cancels.
    pub fn is_over(&self, now: Duration, lease: Duration) -> bool {
        match self.turn_until {
            Some(until) => now >= until,
            None => self.owner.host().is_none() && now.saturating_sub(self.asked) > lease,
        }
    }

    /// What it waits for, of this file.
    pub fn wish<'w, K>(&'w self, key: &'w K) -> LockWish<'w, K> {
        LockWish { key, owner: &self.owner, range: self.range, kind: self.kind }
    }

    /// Whether it is this request.
    pub fn is(&self, owner: &LockOwner, range: ByteRange, kind: LockKind) -> bool {
        self.owner == *owner && self.range == range && self.kind == kind
    }
}

/// The waiters of one file.
#[derive(Debug, Default)]
pub struct Waiters {
    queue: Vec<Waiter>,
}

impl Waiters {
    /// Remembers a request at the end of the queue, or that it was made again. Whether it is new.
    pub fn remember(&mut self, owner: &LockOwner, range: ByteRange, kind: LockKind, now: Duration) -> bool {
        if let Some(waiter) = self.queue.iter_mut().find(|waiter| waiter.is(owner, range, kind)) {
            waiter.asked = now;
            return false;
        }
        self.queue.push(Waiter {
            owner: owner.clone(),
            range,
            kind,
            since: now,
            asked: now,
            turn_until: None,
        });
        true
    }

    /// Forgets those of which this holds, and returns them.
    pub fn forget(&mut self, mut is_over: impl FnMut(&Waiter) -> bool) -> Vec<Waiter> {
        self.queue.extract_if(.., |waiter| is_over(waiter)).collect()
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Waiter> {
        self.queue.iter()
    }

    /// Gives a waiter its turn.
    pub fn give_turn(&mut self, place: usize, until: Duration) {
        self.queue[place].turn_until = Some(until);
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
