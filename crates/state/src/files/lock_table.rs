//! Byte-range locks: those that are held, and those that wait for them.

use std::hash::Hash;
use std::time::Duration;

use super::deadlocks::is_deadlock;
use super::lapsed::{Lapsed, in_the_way};
use super::lock_wish::LockWish;
use super::range_locks::HeldLock;
use super::range_table::RangeTable;
use super::usage::Party;
use super::views::{LockView, WaitView};
use super::wait_table::WaitTable;
use super::waiters::Waiter;
use crate::effects::{Effect, LockGrant};
use crate::error::{LockConflict, StateError};
use crate::ids::{ByteRange, ClientId, HostId, LockKind, LockOwner, StateId};
use crate::settings::StateBounds;

/// Byte-range locks of all files.
#[derive(Debug)]
pub struct LockTable<K> {
    /// What is held.
    pub ranges: RangeTable<K>,
    /// What waits.
    pub waits: WaitTable<K>,
    bounds: StateBounds,
}

impl<K: Clone + Eq + Hash> LockTable<K> {
    /// None yet.
    pub(crate) fn new(bounds: StateBounds) -> Self {
        Self { ranges: RangeTable::default(), waits: WaitTable::default(), bounds }
    }

    /// Locks that are held.
    pub fn held(&self) -> impl Iterator<Item = LockView<'_, K>> {
        self.ranges.all().map(|(key, (owner, range, kind))| LockView { key, owner, kind, range })
    }

    /// Locks that are waited for.
    pub fn waits(&self) -> impl Iterator<Item = WaitView<'_, K>> {
        self.waits.all().map(|(key, waiter)| {
            let Waiter { owner, range, kind, .. } = waiter;
            let holder = self.ranges.conflicts(&waiter.wish(key)).next().map(|(holder, ..)| holder);
            WaitView { key, owner, kind: *kind, range: *range, holder }
        })
    }

    /// Whether a lock may be granted: if those clients end that are returned.
    ///
    /// # Errors
    ///
    /// What is in the way: locks of others, and locks that others have their turn to take.
    pub(crate) fn test(
        &self,
        wish: &LockWish<'_, K>,
        now: Duration,
        lapsed: Lapsed<'_>,
    ) -> Result<Vec<ClientId>, Box<LockConflict>> {
        in_the_way(self.conflicts(wish, now), |(owner, ..)| owner.client(), lapsed).map_err(
            |(owner, range, kind)| {
                Box::new(LockConflict { owner: owner.clone(), range, kind, is_waiting: false })
            },
        )
    }

    /// The same for an owner that asks again and again, or `waits` until it is called: then a denied lock is remembered.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Deadlock`].
    pub(crate) fn request(
        &mut self,
        wish: &LockWish<'_, K>,
        waits: bool,
        now: Duration,
        lapsed: Lapsed<'_>,
    ) -> Result<Vec<ClientId>, StateError> {
        let mut conflict = match self.test(wish, now, lapsed) {
            Ok(in_the_way) => return Ok(in_the_way),
            Err(conflict) => conflict,
        };
        if waits && is_deadlock(&self.ranges, &self.waits, wish, now, lapsed) {
            self.cancel(wish);
            return Err(StateError::Deadlock);
        }
        if !waits && wish.owner.client().is_some() {
            // NFSv4 has no other word for a program that gave up: its turn would keep the lock from all.
            self.cancel(wish);
        }
        conflict.is_waiting = waits && self.remember(wish, now);
        Err(StateError::Denied(conflict))
    }

    fn conflicts<'t>(&'t self, wish: &LockWish<'t, K>, now: Duration) -> impl Iterator<Item = HeldLock<'t>> {
        let LockWish { key, owner, range, kind } = *wish;
        let keeping = self.waits.of(key).filter(move |waiter| waiter.keeps(owner, range, kind, now));
        let kept = keeping.map(|waiter| (&waiter.owner, waiter.range, waiter.kind));
        self.ranges.conflicts(wish).chain(kept)
    }

    /// Grants a lock that may be granted. Its owner waits no more for what lies in it.
    pub(crate) fn grant(&mut self, wish: &LockWish<'_, K>, effects: &mut Vec<Effect<K>>) -> LockGrant<K> {
        let LockWish { key, owner, range, kind } = *wish;
        let before = self.ranges.within(key, owner, range);
        self.ranges.set(key, owner, range, Some(kind), effects);
        let is_served = |held: ByteRange, wanted: LockKind| {
            held.intersection(range) == Some(held) && (wanted == kind || kind == LockKind::Write)
        };
        self.waits.forget(key, |waiter| waiter.owner == *owner && is_served(waiter.range, waiter.kind));
        let (owner, key, stateid) = (owner.clone(), key.clone(), StateId::INVALID);
        LockGrant { owner, key, range, kind, stateid, before }
    }

    /// Takes a grant back: its owner holds what it held before. Nothing happens if the owner has changed these bytes since.
    pub(crate) fn take_back(&mut self, now: Duration, grant: &LockGrant<K>, effects: &mut Vec<Effect<K>>) {
        let LockGrant { owner, key, range, kind, before, .. } = grant;
        if self.ranges.within(key, owner, *range) != [(*range, *kind)] {
            return;
        }
        self.ranges.set(key, owner, *range, None, effects);
        for (piece, held) in before {
            // Others may have got what the grant let go of.
            let wish = LockWish { key, owner, range: *piece, kind: *held };
            let is_free = self.test(&wish, now, &|_| false).is_ok();
            let held = if is_free { *held } else { *kind.min(held) };
            self.ranges.set(key, owner, *piece, Some(held), effects);
        }
    }

    /// Unlocks any bytes, also such that are not locked.
    ///
    /// # Errors
    ///
    /// [`StateError::NoSpace`] if it would make two ranges of one beyond the bound.
    pub(crate) fn unlock(
        &mut self,
        key: &K,
        owner: &LockOwner,
        range: ByteRange,
        effects: &mut Vec<Effect<K>>,
    ) -> Result<(), StateError> {
        if !self.has_room(Party::from(owner), key) && self.ranges.splits(key, owner, range) {
            return Err(StateError::NoSpace);
        }
        self.end(key, owner, range, effects);
        Ok(())
    }

    /// The same where nobody can refuse it.
    pub(crate) fn end(&mut self, key: &K, owner: &LockOwner, range: ByteRange, effects: &mut Vec<Effect<K>>) {
        self.ranges.set(key, owner, range, None, effects);
    }

    /// Of these bytes local processes were seen to hold that part so, or nothing.
    pub(crate) fn set_local(&mut self, key: &K, range: ByteRange, found: Option<(ByteRange, LockKind)>) {
        // These are the kernel's own: no effect tells it of them.
        let mut effects = Vec::new();
        self.end(key, &LockOwner::Local, range, &mut effects);
        if let Some((part, kind)) = found.and_then(|(part, kind)| Some((part.intersection(range)?, kind))) {
            self.ranges.set(key, &LockOwner::Local, part, Some(kind), &mut effects);
        }
    }

    /// Whether one more range of a file may be locked for a client or host.
    pub(crate) fn has_room(&self, party: Party, key: &K) -> bool {
        self.ranges.usage().count(party) < self.bounds.ranges_of_client
            && self.ranges.count_of_file(key) < self.bounds.ranges_of_file
    }

    /// Remembers a lock that was denied, if its client or host has not too many of them.
    pub(crate) fn remember(&mut self, wish: &LockWish<'_, K>, now: Duration) -> bool {
        self.waits.remember(wish, now, self.bounds.waiters_of_client)
    }

    /// Forgets a lock that is waited for. Whether it was.
    pub(crate) fn cancel(&mut self, wish: &LockWish<'_, K>) -> bool {
        let LockWish { key, owner, range, kind } = *wish;
        self.waits.forget(key, |waiter| waiter.is(owner, range, kind))
    }

    /// Forgets waiters of which nothing is expected any more. Files where others may be next.
    pub(crate) fn expire_waits(&mut self, now: Duration, lease: Duration) -> Vec<K> {
        self.waits.forget_everywhere(|waiter| waiter.is_over(now, lease))
    }

    /// Forgets all waiters of a client. Files where others may be next.
    pub(crate) fn forget_waits(&mut self, client: ClientId) -> Vec<K> {
        self.waits.forget_everywhere(|waiter| waiter.owner.client() == Some(client))
    }

    /// Ends all that a host has locked and waits for. Files where others may be next.
    pub(crate) fn end_host(&mut self, host: HostId, effects: &mut Vec<Effect<K>>) -> Vec<K> {
        let waited = self.waits.forget_everywhere(|waiter| waiter.owner.host() == Some(host));
        waited.into_iter().chain(self.ranges.end_host(host, effects)).collect()
    }

    /// Clients that keep others waiting although their lease has passed.
    pub(crate) fn blockers(&self, lapsed: Lapsed<'_>) -> Vec<ClientId> {
        let held = self.waits.all().flat_map(|(key, waiter)| self.ranges.conflicts(&waiter.wish(key)));
        let late = held.filter_map(|(owner, ..)| owner.client()).filter(|client| lapsed(*client));
        let mut blockers: Vec<ClientId> = late.collect();
        blockers.sort_unstable();
        blockers.dedup();
        blockers
    }

    /// Serves those of a file who can have their locks now: NLM owners get them, owners of NFSv4 get a notice and have their
    /// turn.
    pub(crate) fn wake(
        &mut self,
        key: &K,
        now: Duration,
        turn_until: Duration,
        effects: &mut Vec<Effect<K>>,
    ) -> Vec<LockGrant<K>> {
        let mut grants = Vec::new();
        while let Some((place, waiter)) = self.next_in_line(key, now) {
            match &waiter.owner {
                LockOwner::V4 { client, owner } => {
                    self.waits.give_turn(key, place, turn_until);
                    effects.push(Effect::Notify { client: *client, owner: owner.clone(), key: key.clone() });
                }
                // Local processes wait in the kernel, never here.
                LockOwner::Nlm(_) | LockOwner::Local => grants.push(self.grant(&waiter.wish(key), effects)),
            }
        }
        grants
    }

    /// The first in the queue who could have its lock now and has no turn yet.
    fn next_in_line(&self, key: &K, now: Duration) -> Option<(usize, Waiter)> {
        let is_next = |waiter: &Waiter| {
            waiter.turn_until.is_none() && self.conflicts(&waiter.wish(key), now).next().is_none()
        };
        let next = self.waits.of(key).enumerate().find(|(_, waiter)| is_next(waiter));
        next.map(|(place, waiter)| (place, waiter.clone()))
    }

    /// Files with waiters.
    pub(crate) fn waited_for(&self) -> Vec<K> {
        self.waits.keys().cloned().collect()
    }
}
