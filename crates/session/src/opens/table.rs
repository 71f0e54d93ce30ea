//! All opens, by owner and file.

use std::collections::BTreeMap;

use howdah_wire::nfs4::StateId;

use super::open_file::{Locker, OpenFile, Phase};
use super::ranges::{LockedRange, cut};
use super::steps::{CloseStep, LockStep, OpenAccess, OpenStep, StateToUse, UnlockStep};

/// What a client has open and locked. `K` names a file. Owners are numbers, such as user ids; lockers are numbers, one for each who locks.
#[derive(Debug)]
pub struct OpenTable<K> {
    pub(super) files: BTreeMap<(u32, K), OpenFile>,
    /// How often the server forgot all. What an answer from before says does not count.
    era: u32,
}

impl<K> Default for OpenTable<K> {
    fn default() -> Self {
        Self { files: BTreeMap::new(), era: 0 }
    }
}

impl<K: Clone + Ord> OpenTable<K> {
    /// Whether anything is open.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Changes when the server forgets all. To be noted when a call is made, for its answer.
    pub fn era(&self) -> u32 {
        self.era
    }

    /// An owner opens a file.
    pub fn open(&mut self, owner: u32, key: &K, access: OpenAccess) -> OpenStep {
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else {
            self.files.insert((owner, key.clone()), OpenFile::opening());
            return OpenStep::Open(access);
        };
        let all = file.access.union(access);
        if file.must_wait() {
            OpenStep::Wait
        } else if all == file.access && file.stateid.is_some() {
            file.users += 1;
            OpenStep::Done
        } else {
            file.is_busy = true;
            OpenStep::Open(all)
        }
    }

    /// OPEN for this access ended, which was sent in that era. Whether the file is open now; else it is to be asked for again, unless
    /// the server refused it.
    pub fn on_opened(
        &mut self,
        (owner, key): (u32, &K),
        era: u32,
        opened: Option<(StateId, OpenAccess)>,
    ) -> bool {
        let opened = opened.filter(|_| era == self.era);
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return false };
        file.is_busy = false;
        if let Some((stateid, access)) = opened {
            (file.stateid, file.access) = (Some(stateid), access);
            file.users += 1;
        } else if file.users == 0 && file.stateid.is_none() {
            self.files.remove(&(owner, key.clone()));
        }
        opened.is_some()
    }

    /// One who has it open closes it.
    pub fn close(&mut self, owner: u32, key: &K) -> CloseStep {
        let name = (owner, key.clone());
        let Some(file) = self.files.get_mut(&name) else { return CloseStep::Done };
        if file.must_wait() {
            return CloseStep::Wait;
        }
        if file.users > 1 {
            file.users -= 1;
            return CloseStep::Done;
        }
        let Some(stateid) = file.stateid else {
            self.files.remove(&name);
            return CloseStep::Done;
        };
        file.is_busy = true;
        let locked = file.lockers.iter().find(|(_, locker)| !locker.ranges.is_empty());
        match locked.and_then(|(number, locker)| Some((*number, locker.stateid?))) {
            Some((locker, stateid)) => CloseStep::Unlock(locker, stateid),
            None => CloseStep::Close(stateid),
        }
    }

    /// CLOSE ended, which was sent in that era. All lock state goes with the open. Whether it is closed now; else it is to be asked for
    /// again: it was claimed from a server that forgot it.
    pub fn on_closed(&mut self, owner: u32, key: &K, era: u32) -> bool {
        let is_closed = era == self.era;
        if is_closed {
            self.files.remove(&(owner, key.clone()));
        } else if let Some(file) = self.files.get_mut(&(owner, key.clone())) {
            file.is_busy = false;
        }
        is_closed
    }

    /// By which stateid an owner reads or writes.
    pub fn state_to_use(&self, owner: u32, key: &K, access: OpenAccess) -> StateToUse {
        let Some(file) = self.files.get(&(owner, key.clone())) else { return StateToUse::Anonymous };
        match (file.phase, file.stateid) {
            _ if file.has_lost() => StateToUse::Lost,
            _ if !file.access.covers(access) => StateToUse::Anonymous,
            (Phase::Known, Some(stateid)) => StateToUse::Open(StateId { sequence: 0, ..stateid }),
            _ => StateToUse::Wait,
        }
    }

    /// A locker locks something of a file that the owner has open.
    pub fn lock(&mut self, owner: u32, key: &K, locker: u64) -> LockStep {
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return LockStep::NotOpen };
        if file.has_lost() {
            return LockStep::Lost;
        }
        let Some(open) = file.stateid.filter(|_| !file.must_wait()) else { return LockStep::Wait };
        file.is_busy = true;
        let held = file.lockers.get(&locker).and_then(|locker| locker.stateid);
        held.map_or(LockStep::First(open), LockStep::Further)
    }

    /// LOCK ended: the stateid of the lock owner, if it was granted. Whether these bytes are locked now; else it is to be asked for
    /// again, unless the server refused it.
    pub fn on_locked(
        &mut self,
        (owner, key, locker): (u32, &K, u64),
        era: u32,
        (first, last, is_exclusive): (u64, u64, bool),
        granted: Option<StateId>,
    ) -> bool {
        let granted = granted.filter(|_| era == self.era);
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return false };
        file.is_busy = false;
        let Some(stateid) = granted else { return false };
        let locker = file.lockers.entry(locker).or_default();
        locker.stateid = Some(stateid);
        cut(&mut locker.ranges, (first, last));
        locker.ranges.push(LockedRange { first, last, is_exclusive, is_held: true });
        true
    }

    /// What an owner has a file open for.
    pub fn access(&self, owner: u32, key: &K) -> OpenAccess {
        self.files.get(&(owner, key.clone())).map_or(OpenAccess::default(), |file| file.access)
    }

    /// The owners by whose opens of a file this locker has locked something of it, or believes so.
    pub fn owners(&self, key: &K, locker: u64) -> Vec<u32> {
        let holds = |file: &OpenFile| file.lockers.get(&locker).is_some_and(Locker::holds);
        let its = self.files.iter().filter(|((_, file), open)| file == key && holds(open));
        its.map(|((owner, _), _)| *owner).collect()
    }

    /// Whether a locker has locked something by an owner's open of a file, or believes so.
    pub fn holds(&self, owner: u32, key: &K, locker: u64) -> bool {
        let file = self.files.get(&(owner, key.clone()));
        file.and_then(|file| file.lockers.get(&locker)).is_some_and(Locker::holds)
    }

    /// A locker has unlocked all, or unlocks something after it lost its locks. Gives the stateid of its locks, which the server is to forget (FREE_STATEID) unless the file is closed
    /// next.
    pub fn end_locker(&mut self, owner: u32, key: &K, locker: u64) -> Option<StateId> {
        self.files.get_mut(&(owner, key.clone()))?.lockers.remove(&locker)?.stateid
    }

    /// A locker unlocks something.
    pub fn unlock(&mut self, owner: u32, key: &K, locker: u64) -> UnlockStep {
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return UnlockStep::Done };
        let must_wait = file.must_wait();
        let stateid = file.lockers.get(&locker).and_then(|locker| locker.stateid);
        let holds = file.lockers.get(&locker).is_some_and(Locker::holds);
        match stateid {
            // It may be given back just now.
            _ if must_wait && (holds || stateid.is_some()) => UnlockStep::Wait,
            None => UnlockStep::Done,
            Some(stateid) => {
                file.is_busy = true;
                UnlockStep::Unlock(stateid)
            }
        }
    }

    /// LOCKU ended: the stateid of the lock owner. If it was refused, or the server forgot it meanwhile, nothing is locked there either.
    pub fn on_unlocked(
        &mut self,
        (owner, key, locker): (u32, &K, u64),
        era: u32,
        (first, last): (u64, u64),
        unlocked: Option<StateId>,
    ) {
        let unlocked = unlocked.filter(|_| era == self.era);
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return };
        file.is_busy = false;
        file.cut(locker, (first, last));
        if let Some(locker) = file.lockers.get_mut(&locker) {
            locker.stateid = unlocked.or(locker.stateid);
        }
    }

    /// The server forgot all.
    pub(super) fn begin_era(&mut self) {
        self.era += 1;
    }
}
