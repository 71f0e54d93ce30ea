//! LOCK, LOCKT, LOCKU (RFC 8881 18.10 to 18.12).

use std::hash::Hash;
use std::time::Duration;

use super::{LockAnswer, LockRequest, Locker, NfsState};
use crate::effects::LockGrant;
use crate::error::StateError;
use crate::files::{LockWish, Party};
use crate::ids::{ByteRange, ClientId, LockKind, LockOwner, ShareAccess, StateId};
use crate::memory;
use crate::states::bytes_of_lock;

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
    /// LOCK (RFC 8881 18.10). If the kernel refuses to mirror it: [`Self::take_back`], and DENIED.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Deadlock`], [`StateError::OpenMode`], [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::Grace`],
    /// [`StateError::NoGrace`], [`StateError::ReclaimBad`], [`StateError::ReclaimConflict`], [`StateError::NoSpace`],
    /// [`StateError::Expired`].
    pub fn lock(&mut self, now: Duration, request: LockRequest<'_, K>) -> Result<LockAnswer<K>, StateError> {
        let LockRequest { client, locker, key, kind, range, waits, is_reclaim } = request;
        let Locking { owner, open, is_new } = self.locking(client, locker, key, kind)?;
        self.admit_client(client, is_reclaim)?;
        let lock_owner = LockOwner::V4 { client, owner: owner.clone() };
        self.has_room(client, key, &lock_owner, is_new)?;
        // A lock in the middle of another makes two more ranges.
        let bytes = 2 * (memory::RANGE + owner.len()) + if is_new { bytes_of_lock(&owner) } else { 0 };
        self.room_for_client(now, client, bytes)?;
        let wish = LockWish { key, owner: &lock_owner, range, kind };
        self.make_way(now, &wish, waits && !is_reclaim).map_err(|error| conflict(error, is_reclaim))?;
        self.granted_to_client(now, client, is_reclaim);
        let grant = self.files.grant(&wish, &mut self.effects);
        self.freed = Some((now, key.clone()));
        let states = self.states.get_mut(&client).ok_or(StateError::Expired)?;
        let index = states.add_lock(open, &owner).ok_or(StateError::BadStateId)?;
        Ok(LockAnswer { stateid: states.change(index), grant })
    }

    /// Who locks, if its stateid and the mode of the open allow it.
    fn locking(
        &mut self,
        client: ClientId,
        locker: Locker<'_>,
        key: &K,
        kind: LockKind,
    ) -> Result<Locking, StateError> {
        let states = self.states_of(client)?;
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

    /// Whether a client may have another lock: its ranges grow by two at most.
    fn has_room(&self, client: ClientId, key: &K, owner: &LockOwner, is_new: bool) -> Result<(), StateError> {
        let bounds = &self.settings.bounds;
        let states = self.states.get(&client).map_or(0, |states| states.count());
        let has_states = !is_new || states < bounds.states_of_client;
        let has_ranges = self.has_room_for_range(Party::from(owner), key);
        if has_states && has_ranges { Ok(()) } else { Err(StateError::NoSpace) }
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
            let lapsed = |other| wish.owner.client() != Some(other) && self.is_lapsed(now, other);
            match self.files.may_lock(wish, now, &lapsed) {
                Ok(in_the_way) if in_the_way.is_empty() => return Ok(()),
                Ok(in_the_way) => self.end_in_the_way(now, in_the_way),
                Err(_) if waits && self.files.is_deadlock(wish, now, &lapsed) => {
                    self.files.cancel(wish);
                    return Err(StateError::Deadlock);
                }
                Err(mut conflict) => {
                    let most = self.settings.bounds.waiters_of_client;
                    if !waits && wish.owner.client().is_some() {
                        // NFSv4 has no other word for a program that gave up: its turn would keep the lock from all.
                        self.files.cancel(wish);
                    }
                    conflict.is_waiting = waits && self.files.remember(wish, now, most);
                    return Err(StateError::Denied(conflict));
                }
            }
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
        if self.grace.is_on() {
            return Err(StateError::Grace);
        }
        let may = self.files.may_lock(wish, now, &|client| self.is_lapsed(now, client));
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
        if !self.has_room_for_range(Party::from(owner), key) && self.files.splits(key, owner, range) {
            return Err(StateError::NoSpace);
        }
        self.files.set_range(key, owner, range, None, &mut self.effects);
        self.wake(now, key);
        Ok(())
    }

    /// Whether one more range of a file may be locked for a client or host.
    pub(super) fn has_room_for_range(&self, party: Party, key: &K) -> bool {
        let bounds = &self.settings.bounds;
        self.files.ranges_of(party) < bounds.ranges_of_client
            && self.files.ranges_of_file(key) < bounds.ranges_of_file
    }

    /// Takes a lock back that the kernel refused to mirror, as if LOCK had been denied: the owner holds what it held before, and its
    /// stateid is the one before. Before the lock on the state is let go, or the client may see more of it.
    pub fn take_back(&mut self, now: Duration, answer: &LockAnswer<K>) {
        if let Some(client) = answer.grant.owner.client()
            && let Some(states) = self.states.get_mut(&client)
        {
            states.undo_change(answer.stateid);
        }
        self.refuse(now, &answer.grant);
    }

    /// Takes a grant of NLM back: the kernel refused to mirror it, or the host refused its GRANTED. The owner then holds of these bytes
    /// what it held before. Nothing happens if the owner has changed them since.
    pub fn refuse(&mut self, now: Duration, grant: &LockGrant<K>) {
        let LockGrant { owner, key, range, kind, before } = grant;
        self.freed = None;
        if self.files.within(key, owner, *range) != [(*range, *kind)] {
            return;
        }
        self.files.set_range(key, owner, *range, None, &mut self.effects);
        for (piece, held) in before {
            // Others may have got what the grant let go of.
            let wish = LockWish { key, owner, range: *piece, kind: *held };
            let is_free = self.files.may_lock(&wish, now, &|_| false).is_ok();
            let held = if is_free { *held } else { *kind.min(held) };
            self.files.set_range(key, owner, *piece, Some(held), &mut self.effects);
        }
        self.wake(now, key);
    }
}

/// A reclaim that is denied has met another reclaim.
pub(super) fn conflict(error: StateError, is_reclaim: bool) -> StateError {
    match error {
        StateError::Denied(_) | StateError::ShareDenied if is_reclaim => StateError::ReclaimConflict,
        error => error,
    }
}
