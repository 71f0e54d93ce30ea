//! What a server may have otherwise than this table is set right before anything else is locked or unlocked by the same open.

use howdah_wire::nfs4::StateId;

use super::open_file::{OpenFile, Phase};
use super::owed::Owed;
use super::table::OpenTable;

/// The next call to set something right. Answered by [`OpenTable::on_settled`], unless it gets no answer either: then it is to be made
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleCall {
    /// LOCK.
    Lock {
        /// Who locks.
        locker: u64,
        /// The first byte, and the last one.
        range: (u64, u64),
        /// Whether it excludes all others.
        is_exclusive: bool,
        /// The open's stateid.
        open: StateId,
        /// That of the lock owner, if it is known. Else this LOCK asks for it, and what it locks is unlocked again.
        held: Option<StateId>,
    },
    /// LOCKU.
    Unlock {
        /// Who unlocks.
        locker: u64,
        /// The first byte, and the last one.
        range: (u64, u64),
        /// The stateid of the lock owner.
        held: StateId,
    },
    /// CLOSE, by the open's stateid.
    Close(StateId),
}

/// A call to set something right, and by whose open of which file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleStep<K> {
    /// The owner of the open.
    pub owner: u32,
    /// The file.
    pub key: K,
    /// The call.
    pub call: SettleCall,
    era: u32,
}

impl OpenFile {
    /// The server is to have these bytes as here. Of a lost open, or lost locks, it has nothing.
    fn owe(&mut self, locker: u64, range: (u64, u64)) {
        let its = self.lockers.get(&locker);
        let held = its.and_then(|locker| locker.stateid);
        if self.stateid.is_some() && its.is_none_or(|locker| !locker.is_lost) {
            self.owed.push_back(Owed::Range { locker, range, held });
        }
    }

    /// The next call, if none is under way.
    fn next_settle(&mut self) -> Option<SettleCall> {
        if self.is_busy || self.phase != Phase::Known {
            return None;
        }
        let open = self.stateid?;
        loop {
            let Some(owed) = self.owed.front().copied() else {
                return (self.users == 0).then_some(SettleCall::Close(open));
            };
            let (locker, range, held) = match owed {
                Owed::Lock { locker, range, is_exclusive, held } => {
                    return Some(SettleCall::Lock { locker, range, is_exclusive, open, held: Some(held) });
                }
                Owed::Unlock { locker, range, held } => {
                    return Some(SettleCall::Unlock { locker, range, held });
                }
                Owed::Range { locker, range, held } => (locker, range, held),
            };
            let Some(held) = self.lockers.get(&locker).and_then(|locker| locker.stateid).or(held) else {
                // If the server has a lock there, it has one that does not exclude this one.
                let is_exclusive = !self.access.reads;
                return Some(SettleCall::Lock { locker, range, is_exclusive, open, held: None });
            };
            self.owed.pop_front();
            self.expand(locker, range, held);
        }
    }

    /// What is to be locked and unlocked so that the server has these bytes as here.
    fn expand(&mut self, locker: u64, range: (u64, u64), held: StateId) {
        let locked = self.lockers.get(&locker).map_or(&[][..], |its| &its.ranges);
        let mut parts: Vec<Owed> = Vec::new();
        let mut free = vec![range];
        for its in locked.iter().filter(|its| its.first <= range.1 && its.last >= range.0) {
            let part = (its.first.max(range.0), its.last.min(range.1));
            parts.push(Owed::Lock { locker, range: part, is_exclusive: its.is_exclusive, held });
            free = free.into_iter().flat_map(|whole| around(whole, part)).collect();
        }
        parts.extend(free.into_iter().map(|range| Owed::Unlock { locker, range, held }));
        parts.into_iter().rev().for_each(|part| self.owed.push_front(part));
    }

    fn on_settled(&mut self, call: SettleCall, given: Option<StateId>) {
        self.owed.pop_front();
        match (call, given) {
            (SettleCall::Lock { locker, range, held: None, .. }, Some(held)) => {
                self.expand(locker, range, held);
            }
            // The server says that it has nothing there.
            (SettleCall::Lock { held: None, .. }, None) => {}
            // Another client has it.
            (SettleCall::Lock { locker, .. }, None) => self.lose(locker),
            (SettleCall::Lock { .. } | SettleCall::Unlock { .. } | SettleCall::Close(_), _) => {}
        }
    }
}

/// What of the first range is not in the second.
fn around((first, last): (u64, u64), part: (u64, u64)) -> impl Iterator<Item = (u64, u64)> {
    let before = (part.0 > first).then(|| (first, last.min(part.0 - 1)));
    let behind = (part.1 < last).then(|| (first.max(part.1 + 1), last));
    before.into_iter().chain(behind)
}

impl<K: Clone + Ord> OpenTable<K> {
    /// A LOCK or LOCKU got no answer that was sent in that era: the server may have made it. Of a LOCKU, nothing is locked there from
    /// now on. Of a LOCK, what was locked before still is.
    pub fn on_unanswered(
        &mut self,
        (owner, key, locker): (u32, &K, u64),
        era: u32,
        range: (u64, u64),
        is_unlock: bool,
    ) {
        let is_of_now = era == self.era();
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return };
        file.is_busy = false;
        if is_unlock {
            file.cut(locker, range);
        }
        if is_of_now {
            file.owe(locker, range);
        }
    }

    /// A locker unlocks something, and does not wait until that can be sent.
    pub fn unlock_later(&mut self, owner: u32, key: &K, locker: u64, range: (u64, u64)) {
        let Some(file) = self.files.get_mut(&(owner, key.clone())) else { return };
        file.cut(locker, range);
        file.owe(locker, range);
    }

    /// One who has a file open closes it, and does not wait until that can be sent.
    pub fn leave(&mut self, owner: u32, key: &K) {
        let name = (owner, key.clone());
        let Some(file) = self.files.get_mut(&name) else { return };
        file.users = file.users.saturating_sub(1);
        if file.users == 0 && !file.is_busy && file.stateid.is_none() && file.phase == Phase::Known {
            self.files.remove(&name);
        }
    }

    /// A CLOSE got no answer.
    pub fn on_close_unanswered(&mut self, owner: u32, key: &K) {
        if let Some(file) = self.files.get_mut(&(owner, key.clone())) {
            file.is_busy = false;
        }
        self.leave(owner, key);
    }

    /// Whether something is to be set right at the server.
    pub fn owes(&self) -> bool {
        self.files.values().any(|file| !file.owed.is_empty() || file.users == 0 && !file.is_busy)
    }

    /// Whether something of this open is.
    pub fn owes_of(&self, owner: u32, key: &K) -> bool {
        self.files.get(&(owner, key.clone())).is_some_and(|file| !file.owed.is_empty())
    }

    /// The next call to set something right. Calls that were sent before must not run any more: they were sent in another session.
    pub fn next_settle(&mut self) -> Option<SettleStep<K>> {
        let era = self.era();
        self.files.iter_mut().find_map(|((owner, key), file)| {
            let call = file.next_settle()?;
            file.is_busy = true;
            Some(SettleStep { owner: *owner, key: key.clone(), call, era })
        })
    }

    /// That call was answered: the stateid of the lock owner, unless the server refused it. `None`: it got no answer.
    pub fn on_settled(&mut self, step: &SettleStep<K>, answer: Option<Option<StateId>>) {
        let name = (step.owner, step.key.clone());
        let is_of_now = step.era == self.era();
        let Some(file) = self.files.get_mut(&name) else { return };
        file.is_busy = false;
        match (answer.filter(|_| is_of_now), step.call) {
            (Some(_), SettleCall::Close(_)) => _ = self.files.remove(&name),
            (Some(given), call) => file.on_settled(call, given),
            // The server forgot it.
            (None, _) if file.users == 0 && file.stateid.is_none() => _ = self.files.remove(&name),
            (None, _) => {}
        }
    }
}
