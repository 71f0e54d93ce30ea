//! One file that one owner has open.

use std::collections::{BTreeMap, VecDeque};

use howdah_wire::nfs4::StateId;

use super::owed::Owed;
use super::ranges::{LockedRange, cut};
use super::steps::OpenAccess;

/// How it is with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The server knows what is here.
    Known,
    /// It forgot all, and is to get it again: the open first, then each lock.
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
    /// The open was lost.
    pub(super) is_lost: bool,
    pub(super) lockers: BTreeMap<u64, Locker>,
    /// What the server may have otherwise, in the order in which it is to be set right.
    pub(super) owed: VecDeque<Owed>,
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
            owed: VecDeque::new(),
        }
    }

    /// Whether another call about it must wait.
    pub(super) fn must_wait(&self) -> bool {
        self.is_busy || self.phase != Phase::Known || !self.owed.is_empty()
    }

    /// Whether the open or locks were lost, and those who had them have not unlocked since.
    pub(super) fn has_lost(&self) -> bool {
        self.is_lost || self.lockers.values().any(|locker| locker.is_lost)
    }

    /// The server forgot all, or took the open away with all its locks. They are not taken again: another client may have had them
    /// meanwhile.
    pub(super) fn lose_locks(&mut self) {
        self.owed.clear();
        self.lockers.retain(|_, locker| locker.holds());
        for locker in self.lockers.values_mut() {
            *locker = Locker { is_lost: true, ..Locker::default() };
        }
    }

    /// A locker lost something that it had locked. What the server still has of it is unlocked.
    pub(super) fn lose(&mut self, locker: u64) {
        self.owed.retain(|owed| owed.locker() != locker);
        let Some(its) = self.lockers.get_mut(&locker) else { return };
        let lost = std::mem::replace(its, Locker { is_lost: true, ..Locker::default() });
        if let Some(held) = lost.stateid.filter(|_| lost.ranges.iter().any(|range| range.is_held)) {
            self.owed.push_back(Owed::Unlock { locker, range: (0, u64::MAX), held });
        }
    }

    /// A locker has these bytes not locked any more.
    pub(super) fn cut(&mut self, locker: u64, range: (u64, u64)) {
        if let Some(locker) = self.lockers.get_mut(&locker) {
            cut(&mut locker.ranges, range);
        }
    }
}
