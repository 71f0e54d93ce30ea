//! What is claimed again from a server that forgot it, and what is lost.

use howdah_wire::nfs4::StateId;

use super::open_file::{OpenFile, Phase};
use super::steps::OpenAccess;
use super::table::OpenTable;

/// Something to claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReclaimStep<K> {
    /// OPEN; answered by [`OpenTable::on_reclaimed`].
    Open {
        /// The owner.
        owner: u32,
        /// The file.
        key: K,
        /// What for.
        access: OpenAccess,
        /// CLAIM_PREVIOUS; else CLAIM_FH.
        is_reclaim: bool,
    },
    /// LOCK with `reclaim`; answered by [`OpenTable::on_reclaimed`].
    Lock {
        /// The owner of the open.
        owner: u32,
        /// The file.
        key: K,
        /// Who locks.
        locker: u64,
        /// The first byte, and the last one.
        range: (u64, u64),
        /// Whether it excludes all others.
        is_exclusive: bool,
        /// The open's stateid.
        open: StateId,
        /// That of the lock owner, if the server knows it.
        held: Option<StateId>,
    },
}

impl<K: Clone + Ord> OpenTable<K> {
    /// The server forgot all: there is a new client id.
    pub fn on_forgotten(&mut self) {
        self.begin_era();
        self.files.retain(|_, file| file.users > 0 || file.is_busy);
        for file in self.files.values_mut() {
            file.owed.clear();
            if file.users == 0 {
                // An OPEN is under way, whose answer does not count any more.
                *file = OpenFile::opening();
                continue;
            }
            if file.phase != Phase::Reopen {
                file.phase = Phase::Reclaim { is_open: false };
            }
            for locker in file.lockers.values_mut() {
                locker.stateid = None;
                locker.ranges.iter_mut().for_each(|range| range.is_held = false);
            }
        }
    }

    /// The server revoked a state: TEST_STATEID says so, or an operation. It is freed by its owner (FREE_STATEID).
    pub fn on_revoked(&mut self, stateid: StateId) {
        let is_it = |one: Option<StateId>| one.is_some_and(|one| one.other == stateid.other);
        for file in self.files.values_mut() {
            if is_it(file.stateid) {
                (file.stateid, file.phase) = (None, Phase::Reopen);
                file.lose_locks();
                continue;
            }
            let revoked = file.lockers.iter_mut().find(|(_, locker)| is_it(locker.stateid));
            if let Some((locker, its)) = revoked {
                let (locker, holds) = (*locker, its.holds());
                its.stateid = None;
                match holds {
                    true => file.lose(locker),
                    false => _ = file.lockers.remove(&locker),
                }
            }
        }
        self.files.retain(|_, file| file.phase != Phase::Reopen || file.users > 0 || file.is_busy);
    }

    /// All stateids, to be tested.
    pub fn stateids(&self) -> Vec<StateId> {
        let of_lockers = self.files.values().flat_map(|file| file.lockers.values());
        let opens = self.files.values().filter_map(|file| file.stateid);
        opens.chain(of_lockers.filter_map(|locker| locker.stateid)).collect()
    }

    /// The next thing to reclaim, before RECLAIM_COMPLETE.
    pub fn next_reclaim(&mut self) -> Option<ReclaimStep<K>> {
        for ((owner, key), file) in &mut self.files {
            let Phase::Reclaim { is_open } = file.phase else { continue };
            let (owner, key) = (*owner, key.clone());
            let Some(open) = file.stateid.filter(|_| is_open) else {
                return Some(ReclaimStep::Open { owner, key, access: file.access, is_reclaim: true });
            };
            for (locker, its) in &file.lockers {
                if let Some(range) = its.ranges.iter().find(|range| !range.is_held) {
                    let (locker, held, is_exclusive) = (*locker, its.stateid, range.is_exclusive);
                    let range = (range.first, range.last);
                    return Some(ReclaimStep::Lock { owner, key, locker, range, is_exclusive, open, held });
                }
            }
            file.phase = Phase::Known;
        }
        None
    }

    /// The next thing to open again, after RECLAIM_COMPLETE.
    pub fn next_reopen(&self) -> Option<ReclaimStep<K>> {
        let ((owner, key), file) = self.files.iter().find(|(_, file)| file.phase == Phase::Reopen)?;
        Some(ReclaimStep::Open { owner: *owner, key: key.clone(), access: file.access, is_reclaim: false })
    }

    /// A step ended: the stateid that the server gave, unless it refused. Steps that were only asked to wait are not reported.
    pub fn on_reclaimed(&mut self, step: &ReclaimStep<K>, stateid: Option<StateId>) {
        let (ReclaimStep::Open { owner, key, .. } | ReclaimStep::Lock { owner, key, .. }) = step;
        let Some(file) = self.files.get_mut(&(*owner, key.clone())) else { return };
        match (step, stateid) {
            (ReclaimStep::Open { is_reclaim: true, .. }, Some(_)) => {
                (file.stateid, file.phase) = (stateid, Phase::Reclaim { is_open: true });
            }
            (ReclaimStep::Open { is_reclaim: true, .. }, None) => {
                (file.stateid, file.phase) = (None, Phase::Reopen);
                file.lose_locks();
            }
            (ReclaimStep::Open { is_reclaim: false, .. }, _) => {
                (file.stateid, file.phase) = (stateid, Phase::Known);
                file.is_lost |= stateid.is_none();
            }
            (ReclaimStep::Lock { locker, range, .. }, Some(_)) => {
                if let Some(locker) = file.lockers.get_mut(locker) {
                    locker.stateid = stateid;
                    let held = locker.ranges.iter_mut().find(|its| (its.first, its.last) == *range);
                    held.into_iter().for_each(|range| range.is_held = true);
                }
            }
            (ReclaimStep::Lock { locker, .. }, None) => file.lose(*locker),
        }
    }
}
