//! What stateids stand for: opens, locks of an owner under an open, and delegations (RFC 8881 8.2).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::{Allows, Combinations, IoRight, IoRights};
use crate::error::StateError;
use crate::ids::{ClientId, IoKind, IoPermit, LockOwner, OpenId, ShareAccess, StateId};
use crate::memory;

/// A delegation never changes.
const DELEGATION_SEQID: u32 = 1;

/// What one owner has open of a file.
#[derive(Debug)]
pub struct OpenState<K> {
    /// The file.
    pub key: K,
    /// The open owner.
    pub owner: Box<[u8]>,
    /// Changes so far.
    pub seqid: u32,
    /// What its OPENs asked for.
    pub combinations: Combinations,
    /// Lock states under it, by lock owner.
    pub locks: HashMap<Box<[u8]>, u32>,
}

/// What one lock owner has locked of a file, under an open.
#[derive(Debug)]
pub struct LockState<K> {
    /// The file.
    pub key: K,
    /// The lock owner.
    pub owner: LockOwner,
    /// Changes so far.
    pub seqid: u32,
    /// The open.
    pub open: u32,
}

/// A read delegation of a file.
#[derive(Debug)]
pub struct DelegationState<K> {
    /// The file.
    pub key: K,
    /// It was not given back in time. The stateid stays until the client frees it.
    pub is_revoked: bool,
}

/// What a stateid stands for.
#[derive(Debug)]
pub enum Stated<K> {
    /// An open.
    Open(OpenState<K>),
    /// Locks.
    Lock(LockState<K>),
    /// A read delegation.
    Delegation(DelegationState<K>),
}

/// The states of one client.
#[derive(Debug)]
pub struct ClientStates<K> {
    client: ClientId,
    /// Where others see what they allow.
    rights: Arc<IoRights<K>>,
    next: u32,
    by_index: HashMap<u32, Stated<K>>,
    opens: HashMap<(K, Box<[u8]>), u32>,
    /// Those that were not revoked.
    delegations: HashMap<K, u32>,
    revoked: usize,
    /// Memory of all.
    bytes: usize,
}

impl<K> Stated<K> {
    fn seqid(&self) -> u32 {
        match self {
            Self::Open(open) => open.seqid,
            Self::Lock(lock) => lock.seqid,
            Self::Delegation(_) => DELEGATION_SEQID,
        }
    }
}

/// Memory of an open of this owner: its name is kept twice.
pub fn bytes_of_open(owner: &[u8]) -> usize {
    memory::OPEN + 2 * owner.len()
}

/// Memory of the lock state of this owner.
pub fn bytes_of_lock(owner: &[u8]) -> usize {
    memory::LOCK + 2 * owner.len()
}

/// The next of a seqid: never 0, which stands for the current one.
fn next(number: u32) -> u32 {
    number.wrapping_add(1).max(1)
}

impl<K: Clone + Eq + Hash> ClientStates<K> {
    /// None yet.
    pub fn new(client: ClientId, rights: Arc<IoRights<K>>) -> Self {
        let (by_index, opens, delegations) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { client, rights, next: 1, by_index, opens, delegations, revoked: 0, bytes: 0 }
    }

    /// Lets others see what a state allows now, or that it is gone.
    fn show(&self, index: u32) {
        let shown = self.by_index.get(&index).and_then(|stated| {
            let (key, allows) = match stated {
                Stated::Open(open) => {
                    let (access, _) = open.combinations.union();
                    (&open.key, Allows::Access(access, IoPermit::Open(self.name(index))))
                }
                Stated::Lock(lock) => (&lock.key, Allows::AsOpen(lock.open)),
                Stated::Delegation(one) if one.is_revoked => return None,
                Stated::Delegation(one) => (&one.key, Allows::Access(ShareAccess::READ, IoPermit::Special)),
            };
            Some(IoRight { key: key.clone(), seqid: stated.seqid(), allows })
        });
        self.rights.set(self.client, index, shown);
    }

    /// Ends all that are left.
    pub fn end(mut self) {
        let left: Vec<u32> = self.by_index.drain().map(|(index, _)| index).collect();
        left.into_iter().for_each(|index| self.show(index));
    }

    /// What a stateid of this client stands for, and its index.
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`] if there is none or its seqid is yet to come, [`StateError::OldStateId`] if it has passed.
    pub fn find(&self, stateid: StateId) -> Result<(u32, &Stated<K>), StateError> {
        let (epoch, client, index) = stateid.parts();
        if ClientId::new(epoch, client) != self.client {
            return Err(StateError::BadStateId);
        }
        let stated = self.by_index.get(&index).ok_or(StateError::BadStateId)?;
        // RFC 8881 8.2.2: 0 is the current one. The difference is taken with wrapping in mind.
        match stateid.seqid.wrapping_sub(stated.seqid()) as i32 {
            _ if stateid.seqid == 0 => Ok((index, stated)),
            0 => Ok((index, stated)),
            1.. => Err(StateError::BadStateId),
            _ => Err(StateError::OldStateId),
        }
    }

    /// The open that a stateid names. Refused as by [`Self::find`]; [`StateError::BadStateId`] also for locks, and for another file.
    pub fn find_open(&self, stateid: StateId, key: &K) -> Result<u32, StateError> {
        match self.find(stateid)? {
            (index, Stated::Open(open)) if open.key == *key => Ok(index),
            _ => Err(StateError::BadStateId),
        }
    }

    /// The locks that a stateid names. Refused as by [`Self::find`]; [`StateError::BadStateId`] also for an open, and for another file.
    pub fn find_lock(&self, stateid: StateId, key: &K) -> Result<u32, StateError> {
        match self.find(stateid)? {
            (index, Stated::Lock(lock)) if lock.key == *key => Ok(index),
            _ => Err(StateError::BadStateId),
        }
    }

    /// The delegation that a stateid names. Refused as by [`Self::find`]; [`StateError::BadStateId`] also for anything else, and for another
    /// file; [`StateError::DelegationRevoked`].
    pub fn find_delegation(&self, stateid: StateId, key: &K) -> Result<u32, StateError> {
        match self.find(stateid)? {
            (_, Stated::Delegation(one)) if one.is_revoked => Err(StateError::DelegationRevoked),
            (index, Stated::Delegation(one)) if one.key == *key => Ok(index),
            _ => Err(StateError::BadStateId),
        }
    }

    /// Whether I/O by a stateid may run. Refused as by [`Self::find`]; [`StateError::BadStateId`] also for another file,
    /// [`StateError::OpenMode`], [`StateError::DelegationRevoked`].
    pub fn permit(&self, stateid: StateId, key: &K, io: IoKind) -> Result<IoPermit, StateError> {
        let open = match self.find(stateid)? {
            (_, Stated::Delegation(one)) if one.is_revoked => return Err(StateError::DelegationRevoked),
            (_, Stated::Delegation(one)) if one.key == *key && io == IoKind::Read => {
                return Ok(IoPermit::Special);
            }
            (_, Stated::Delegation(one)) if one.key == *key => return Err(StateError::OpenMode),
            (index, Stated::Open(open)) if open.key == *key => index,
            (_, Stated::Lock(lock)) if lock.key == *key => lock.open,
            _ => return Err(StateError::BadStateId),
        };
        let (access, _) = self.open(open).ok_or(StateError::BadStateId)?.combinations.union();
        if access.allows(io.needs()) {
            Ok(IoPermit::Open(self.name(open)))
        } else {
            Err(StateError::OpenMode)
        }
    }

    /// The open of an owner.
    pub fn open_of(&self, key: &K, owner: &[u8]) -> Option<u32> {
        self.opens.get(&(key.clone(), owner.into())).copied()
    }

    /// The open with this index.
    pub fn open(&self, index: u32) -> Option<&OpenState<K>> {
        match self.by_index.get(&index)? {
            Stated::Open(open) => Some(open),
            _ => None,
        }
    }

    /// The open with this index, to be changed.
    pub fn open_mut(&mut self, index: u32) -> Option<&mut OpenState<K>> {
        match self.by_index.get_mut(&index)? {
            Stated::Open(open) => Some(open),
            _ => None,
        }
    }

    /// The locks with this index.
    pub fn lock(&self, index: u32) -> Option<&LockState<K>> {
        match self.by_index.get(&index)? {
            Stated::Lock(lock) => Some(lock),
            _ => None,
        }
    }

    /// Makes an open without any access yet.
    pub fn add_open(&mut self, key: &K, owner: &[u8]) -> u32 {
        let index = self.free_index();
        let combinations = Combinations::default();
        let open = OpenState {
            key: key.clone(),
            owner: owner.into(),
            seqid: 0,
            combinations,
            locks: HashMap::new(),
        };
        self.by_index.insert(index, Stated::Open(open));
        self.bytes += bytes_of_open(owner);
        self.opens.insert((key.clone(), owner.into()), index);
        index
    }

    /// Makes a lock state under an open, or finds the one that its owner has there; `None` without the open.
    pub fn add_lock(&mut self, open: u32, owner: &[u8]) -> Option<u32> {
        if let Some(&there) = self.open(open)?.locks.get(owner) {
            return Some(there);
        }
        let (index, client) = (self.free_index(), self.client);
        let under = self.open_mut(open)?;
        under.locks.insert(owner.into(), index);
        let key = under.key.clone();
        self.bytes += bytes_of_lock(owner);
        let owner = LockOwner::V4 { client, owner: owner.into() };
        self.by_index.insert(index, Stated::Lock(LockState { key, owner, seqid: 0, open }));
        Some(index)
    }

    /// Counts a change, and returns the stateid after it.
    pub fn change(&mut self, index: u32) -> StateId {
        let seqid = match self.by_index.get_mut(&index) {
            Some(Stated::Open(open)) => &mut open.seqid,
            Some(Stated::Lock(lock)) => &mut lock.seqid,
            Some(Stated::Delegation(_)) | None => return StateId::INVALID,
        };
        *seqid = next(*seqid);
        self.show(index);
        self.current(index)
    }

    /// The stateid as it is now.
    pub fn current(&self, index: u32) -> StateId {
        let Some(stated) = self.by_index.get(&index) else { return StateId::INVALID };
        StateId::new(self.client.epoch(), self.client.number(), index, stated.seqid())
    }

    /// Undoes the last change of locks, if this was the stateid after it; without an earlier one they end.
    pub fn undo_change(&mut self, stateid: StateId) {
        let Ok((index, Stated::Lock(lock))) = self.find(stateid) else { return };
        if lock.seqid == 1 {
            self.remove_lock(index);
        } else if let Some(Stated::Lock(lock)) = self.by_index.get_mut(&index) {
            lock.seqid -= 1;
            self.show(index);
        }
    }

    /// Takes an open out, with the owners of locks under it.
    pub fn remove_open(&mut self, index: u32) -> Option<(OpenState<K>, Vec<LockOwner>)> {
        let Some(Stated::Open(open)) = self.by_index.remove(&index) else { return None };
        self.opens.remove(&(open.key.clone(), open.owner.clone()));
        let owners = open.locks.values().filter_map(|lock| match self.by_index.remove(lock)? {
            Stated::Lock(lock) => Some(lock.owner),
            _ => None,
        });
        let owners: Vec<LockOwner> = owners.collect();
        open.locks.values().chain([&index]).for_each(|gone| self.show(*gone));
        let locks = owners.iter().filter_map(LockOwner::name_in_v4).map(bytes_of_lock).sum::<usize>();
        self.bytes = self.bytes.saturating_sub(bytes_of_open(&open.owner) + locks);
        Some((open, owners))
    }

    /// Takes a lock state out.
    pub fn remove_lock(&mut self, index: u32) {
        let Some(Stated::Lock(lock)) = self.by_index.remove(&index) else { return };
        self.show(index);
        if let (LockOwner::V4 { owner, .. }, Some(open)) = (&lock.owner, self.open_mut(lock.open)) {
            open.locks.remove(owner);
        }
        let bytes = lock.owner.name_in_v4().map_or(0, bytes_of_lock);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Makes a delegation, if it is given.
    pub fn add_delegation(&mut self, key: &K, give: impl FnOnce(StateId) -> bool) -> Option<StateId> {
        let index = self.free_index();
        let stateid = StateId::new(self.client.epoch(), self.client.number(), index, DELEGATION_SEQID);
        if !give(stateid) {
            return None;
        }
        let delegation = DelegationState { key: key.clone(), is_revoked: false };
        self.by_index.insert(index, Stated::Delegation(delegation));
        self.delegations.insert(key.clone(), index);
        self.bytes += memory::DELEGATION;
        self.show(index);
        Some(stateid)
    }

    /// Takes a delegation out.
    pub fn remove_delegation(&mut self, index: u32) {
        let Some(Stated::Delegation(one)) = self.by_index.remove(&index) else { return };
        self.show(index);
        self.bytes = self.bytes.saturating_sub(memory::DELEGATION);
        if one.is_revoked {
            self.revoked -= 1;
        } else if self.delegations.get(&one.key) == Some(&index) {
            self.delegations.remove(&one.key);
        }
    }

    /// A delegation was not given back in time.
    pub fn revoke(&mut self, stateid: StateId) {
        let (.., index) = stateid.parts();
        if let Some(Stated::Delegation(one)) = self.by_index.get_mut(&index)
            && !one.is_revoked
        {
            one.is_revoked = true;
            self.revoked += 1;
            self.delegations.remove(&one.key);
            self.show(index);
        }
    }

    /// How many stateids there are of revoked delegations.
    pub fn count_revoked(&self) -> usize {
        self.revoked
    }

    /// How many delegations there are that were not revoked.
    pub fn count_delegations(&self) -> usize {
        self.delegations.len()
    }

    /// Files of which it has a delegation.
    pub fn delegations(&self) -> impl Iterator<Item = &K> {
        self.delegations.keys()
    }

    /// Indexes of all opens.
    pub fn opens(&self) -> impl Iterator<Item = u32> + '_ {
        self.opens.values().copied()
    }

    /// Bytes of memory of all, without ranges.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many opens, lock states and delegations there are.
    pub fn count(&self) -> usize {
        self.by_index.len()
    }

    /// How many opens there are.
    pub fn count_opens(&self) -> usize {
        self.opens.len()
    }

    /// The name of an open.
    pub fn name(&self, index: u32) -> OpenId {
        OpenId { client: self.client, index }
    }

    /// An index that names nothing, and did not for long: the numbers come round after 2^32 states.
    fn free_index(&mut self) -> u32 {
        while self.next == 0 || self.by_index.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let index = self.next;
        self.next = self.next.wrapping_add(1);
        index
    }
}
