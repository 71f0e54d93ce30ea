//! One file that one owner has open.

use std::collections::BTreeMap;

use howdah_wire::nfs4::StateId;

use super::ranges::LockedRange;
use super::steps::OpenAccess;

/// How it is with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The server knows what is here.
    Known,
    /// It forgot all, and is to be told: the open first, then each lock.
    Reclaim {
        /// Whether it knows of the open.
        is_open: bool,
    },
    /// It took the open away, which is to be opened again without a claim.
    Reopen,
}

/// What a lock owner has locked of it.
#[derive(Debug, Default)]
pub(super) struct Locker {
    pub(super) stateid: Option<StateId>,
    pub(super) ranges: Vec<LockedRange>,
    /// It had locks, which were lost, and has not unlocked since.
    pub(super) is_lost: bool,
}

impl Locker {
    /// Whether it has locks, or believes so.
    pub(super) fn holds(&self) -> bool {
        self.is_lost || !self.ranges.is_empty()
    }
}

/// The open.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// None before the first OPEN is answered, and after it was taken away.
    pub(super) stateid: Option<StateId>,
    pub(super) access: OpenAccess,
    /// How many have it open.
    pub(super) users: u32,
    /// OPEN, CLOSE, LOCK or LOCKU is under way: they never overlap.
    pub(super) is_busy: bool,
    pub(super) phase: Phase,
    /// Locks, or the open, were lost.
    pub(super) is_lost: bool,
    pub(super) lockers: BTreeMap<u64, Locker>,
}

impl OpenFile {
    /// One whose OPEN is under way.
    pub(super) fn opening() -> Self {
        Self {
            stateid: None,
            access: OpenAccess::default(),
            users: 0,
            is_busy: true,
            phase: Phase::Known,
            is_lost: false,
            lockers: BTreeMap::new(),
        }
    }

    /// Whether another call about it must wait.
    pub(super) fn must_wait(&self) -> bool {
        self.is_busy || self.phase != Phase::Known
    }

    /// The server has none of its locks any more. They are not taken again: another client may have had them meanwhile.
    pub(super) fn lose_locks(&mut self) {
        self.lockers.retain(|_, locker| locker.holds());
        self.is_lost |= !self.lockers.is_empty();
        for locker in self.lockers.values_mut() {
            *locker = Locker { is_lost: true, ..Locker::default() };
        }
    }
}
