//! One file of which somebody has something.

use std::time::Duration;

use super::range_locks::HeldLock;
use super::waiters::Waiter;
use super::{FileShares, RangeLocks, Waiters};
use crate::ids::{ByteRange, HostId, LockKind, LockOwner};

/// One file of which somebody has something.
#[derive(Debug, Default)]
pub struct NfsFile {
    /// Who has it open.
    pub shares: FileShares,
    /// Who has locked what.
    pub locks: RangeLocks,
    /// Who waits for what.
    pub waiters: Waiters,
}

impl NfsFile {
    /// What keeps an owner from this lock: locks of others, and locks that others have their turn to take.
    pub fn conflicts<'f>(
        &'f self,
        owner: &'f LockOwner,
        range: ByteRange,
        kind: LockKind,
        now: Duration,
    ) -> impl Iterator<Item = HeldLock<'f>> {
        let keeping = self.waiters.iter().filter(move |waiter| waiter.keeps(owner, range, kind, now));
        let kept = keeping.map(|waiter| (&waiter.owner, waiter.range, waiter.kind));
        self.locks.conflicts(owner, range, kind).chain(kept)
    }

    /// The first in the queue who could have its lock now and has no turn yet.
    pub fn next_in_line(&self, now: Duration) -> Option<usize> {
        let is_next = |waiter: &Waiter| {
            let Waiter { owner, range, kind, .. } = waiter;
            waiter.turn_until.is_none() && self.conflicts(owner, *range, *kind, now).next().is_none()
        };
        self.waiters.iter().position(is_next)
    }

    /// Whether a host has anything of it.
    pub fn has_host(&self, host: HostId) -> bool {
        self.shares.of_host(host).next().is_some()
            || self.locks.of_host(host).next().is_some()
            || self.waiters.iter().any(|waiter| waiter.owner.host() == Some(host))
    }

    /// Whether nobody has anything of it.
    pub fn is_empty(&self) -> bool {
        let Self { shares, locks, waiters } = self;
        shares.is_empty() && locks.is_empty() && waiters.is_empty()
    }
}
