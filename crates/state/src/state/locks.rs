//! LOCK, LOCKT, LOCKU (RFC 8881 18.10 to 18.12).

use std::hash::Hash;
use std::time::Duration;

use super::{LockRequest, Locker, NfsState};
use crate::effects::{ClientEnd, LockGrant};
use crate::error::StateError;
use crate::files::{LockWish, Party};
use crate::ids::{ByteRange, ClientId, LockKind, LockOwner, ShareAccess, StateId};
use crate::memory;
use crate::states::{ClientStates, bytes_of_lock};

/// Who locks, under which open; and its lock state, if there is one.
struct Locking {
    owner: Box<[u8]>,
    open: u32,
    is_new: bool,
}

/// What a lock of this kind needs the open to allow.
fn needed(kind: LockKind) -> ShareAccess {
    match kind {
        LockKind::Read => ShareAccess::READ,
        LockKind::Write => ShareAccess::WRITE,
    }
}

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// LOCK (RFC 8881 18.10). If the kernel refuses to mirror it: [`Self::refuse`], and DENIED.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Deadlock`], [`StateError::OpenMode`], [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::Grace`],
    /// [`StateError::NoGrace`], [`StateError::ReclaimBad`], [`StateError::ReclaimConflict`], [`StateError::NoSpace`],
    /// [`StateError::Expired`].
    pub fn lock(&mut self, now: Duration, request: LockRequest<'_, K>) -> Result<LockGrant<K>, StateError> {
        let LockRequest { client, locker, key, kind, range, waits, is_reclaim } = request;
        let Locking { owner, open, is_new } = locking(self.states_of(client)?, locker, key, kind)?;
        self.reclaims.admit_client(self.clients.get(client), is_reclaim)?;
        let lock_owner = LockOwner::V4 { client, owner: owner.clone() };
        let has_states = !is_new || self.states.of(client)?.count() < self.settings.bounds.states_of_client;
        // Its ranges grow by two at most.
        if !has_states || !self.files.locks.has_room(Party::Client(client), key) {
            return Err(StateError::NoSpace);
        }
        // A lock in the middle of another makes two more ranges.
        let bytes = 2 * (memory::RANGE + owner.len()) + if is_new { bytes_of_lock(&owner) } else { 0 };
        self.room_for_client(now, client, bytes)?;
        let wish = LockWish { key, owner: &lock_owner, range, kind };
        self.make_way(now, &wish, waits && !is_reclaim).map_err(|error| conflict(error, is_reclaim))?;
        self.reclaims.granted_to_client(now, self.clients.get(client), is_reclaim);
        let mut grant = self.grant(now, &wish);
        let states = self.states_of(client)?;
        let index = states.add_lock(open, &owner).ok_or(StateError::BadStateId)?;
        grant.stateid = states.change(index);
        Ok(grant)
    }

    /// Whether a lock may be granted; clients whose lease has passed make way. Those who waited for what they had come first. A
    /// denied wish is remembered if it `waits`.
    pub(super) fn make_way(
        &mut self,
        now: Duration,
        wish: &LockWish<'_, K>,
        waits: bool,
    ) -> Result<(), StateError> {
        loop {
            let lapsed = |other| wish.owner.client() != Some(other) && self.clients.is_lapsed(now, other);
            let in_the_way = self.files.locks.request(wish, waits, now, &lapsed)?;
            if in_the_way.is_empty() {
                return Ok(());
            }
            self.end_clients(now, in_the_way, ClientEnd::Conflict);
        }
    }

    /// LOCKT (RFC 8881 18.11): makes no state, and ends nobody.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Grace`], [`StateError::Expired`].
    pub fn test_lock(
        &self,
        now: Duration,
        client: ClientId,
        owner: &[u8],
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> Result<(), StateError> {
        self.clients.get(client).ok_or(StateError::Expired)?;
        let owner = LockOwner::V4 { client, owner: owner.into() };
        self.test(now, &LockWish { key, owner: &owner, range, kind })
    }

    pub(super) fn test(&self, now: Duration, wish: &LockWish<'_, K>) -> Result<(), StateError> {
        if self.reclaims.is_grace() {
            return Err(StateError::Grace);
        }
        let may = self.files.locks.test(wish, now, &|client| self.clients.is_lapsed(now, client));
        may.map(|_| ()).map_err(StateError::Denied)
    }

    /// LOCKU (RFC 8881 18.12): of any bytes, also of such that are not locked.
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::Expired`]; [`StateError::NoSpace`] if it would make two
    /// ranges of one beyond the bound.
    pub fn unlock(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
        range: ByteRange,
    ) -> Result<StateId, StateError> {
        let states = self.states_of(client)?;
        let index = states.find_lock(stateid, key)?;
        let owner = states.lock(index).ok_or(StateError::BadStateId)?.owner.clone();
        self.let_go(now, &owner, key, range)?;
        Ok(self.states_of(client)?.change(index))
    }

    pub(super) fn let_go(
        &mut self,
        now: Duration,
        owner: &LockOwner,
        key: &K,
        range: ByteRange,
    ) -> Result<(), StateError> {
        self.files.locks.unlock(key, owner, range, self.reclaims.effects())?;
        self.wake(now, key);
        Ok(())
    }

    /// Of these bytes processes of the server's own host were seen to hold that part so, or nothing. The kernel alone knows their locks: owners of NFS are denied by
    /// what is set here, and wait for it as for any other lock.
    pub fn set_local(
        &mut self,
        now: Duration,
        key: &K,
        range: ByteRange,
        found: Option<(ByteRange, LockKind)>,
    ) {
        self.files.locks.set_local(key, range, found);
        self.wake(now, key);
    }
}

/// Who locks, if its stateid and the mode of the open allow it.
fn locking<K: Clone + Eq + Hash>(
    states: &ClientStates<K>,
    locker: Locker<'_>,
    key: &K,
    kind: LockKind,
) -> Result<Locking, StateError> {
    let (index, owner) = match locker {
        Locker::New { open, owner } => (states.find_open(open, key)?, Box::from(owner)),
        Locker::Existing(stateid) => {
            let lock = states.lock(states.find_lock(stateid, key)?).ok_or(StateError::BadStateId)?;
            let LockOwner::V4 { owner, .. } = &lock.owner else { return Err(StateError::BadStateId) };
            (lock.open, owner.clone())
        }
    };
    let open = states.open(index).ok_or(StateError::BadStateId)?;
    if !open.combinations.union().0.allows(needed(kind)) {
        return Err(StateError::OpenMode);
    }
    let is_new = !open.locks.contains_key(&owner);
    Ok(Locking { owner, open: index, is_new })
}

/// A reclaim that is denied has met another reclaim.
pub(super) fn conflict(error: StateError, is_reclaim: bool) -> StateError {
    match error {
        StateError::Denied(_) | StateError::ShareDenied if is_reclaim => StateError::ReclaimConflict,
        error => error,
    }
}
