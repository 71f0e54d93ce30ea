//! Locks that are waited for, in the table of files.

use std::hash::Hash;
use std::time::Duration;

use super::waiters::Waiter;
use super::{FileTable, Lapsed, LockWish, Party};
use crate::effects::{Effect, LockGrant};
use crate::ids::{ClientId, LockOwner};
use crate::memory;

/// Memory of a lock that this owner waits for: its name is kept twice.
fn bytes_of_wait(owner: &LockOwner) -> usize {
    memory::WAITER + 2 * owner.name_length()
}

impl<K: Clone + Eq + Hash> FileTable<K> {
    /// Remembers a lock that was denied, if its client or host has fewer than `most` of them.
    pub fn remember(&mut self, wish: &LockWish<'_, K>, now: Duration, most: usize) -> bool {
        let LockWish { key, owner, range, kind } = *wish;
        let party = Party::from(owner);
        if self.waits.of(party) >= most {
            return self.files.get(key).is_some_and(|file| file.waiters.has(owner, range, kind));
        }
        if self.file_mut(key).waiters.remember(owner, range, kind, now) {
            self.waits.add(party, 1);
            self.bytes.add(party, bytes_of_wait(owner) as isize);
            self.waits_of_owner.entry(owner.clone()).or_default().push(key.clone());
            self.waiting.insert(key.clone());
            self.enlist(owner.host(), key);
        }
        true
    }

    /// Forgets a lock that is waited for. Whether it was.
    pub fn cancel(&mut self, wish: &LockWish<'_, K>) -> bool {
        let LockWish { key, owner, range, kind } = *wish;
        self.forget_waits(key, |waiter| waiter.is(owner, range, kind))
    }

    /// Forgets waiters of a file. Whether there were any.
    pub fn forget_waits(&mut self, key: &K, is_over: impl FnMut(&Waiter) -> bool) -> bool {
        let Some(file) = self.files.get_mut(key).filter(|file| !file.waiters.is_empty()) else {
            return false;
        };
        let forgotten = file.waiters.forget(is_over);
        for waiter in &forgotten {
            let party = Party::from(&waiter.owner);
            self.waits.add(party, -1);
            self.bytes.add(party, -(bytes_of_wait(&waiter.owner) as isize));
            self.waits_no_more(&waiter.owner, key);
            self.tidy(waiter.owner.host(), key);
        }
        !forgotten.is_empty()
    }

    fn waits_no_more(&mut self, owner: &LockOwner, key: &K) {
        let Some(keys) = self.waits_of_owner.get_mut(owner) else { return };
        if let Some(place) = keys.iter().position(|one| one == key) {
            keys.swap_remove(place);
        }
        if keys.is_empty() {
            self.waits_of_owner.remove(owner);
        }
    }

    /// Forgets waiters of which nothing is expected any more. Files where others may be next.
    pub fn expire_waits(&mut self, now: Duration, lease: Duration) -> Vec<K> {
        self.forget_everywhere(|waiter| waiter.is_over(now, lease))
    }

    /// Forgets all waiters of a client. Files where others may be next.
    pub fn forget_client(&mut self, client: ClientId) -> Vec<K> {
        self.forget_everywhere(|waiter| waiter.owner.client() == Some(client))
    }

    fn forget_everywhere(&mut self, is_over: impl Fn(&Waiter) -> bool) -> Vec<K> {
        self.waited_for().into_iter().filter(|key| self.forget_waits(key, &is_over)).collect()
    }

    /// Files with waiters.
    pub fn waited_for(&self) -> Vec<K> {
        self.waiting.iter().cloned().collect()
    }

    /// Clients that keep others waiting although their lease has passed.
    pub fn blockers(&self, lapsed: Lapsed<'_>) -> Vec<ClientId> {
        let mut blockers = Vec::new();
        for (_, file, waiter) in self.waiters() {
            let held = file.locks.conflicts(&waiter.owner, waiter.range, waiter.kind);
            let late = held.filter_map(|(owner, ..)| owner.client()).filter(|client| lapsed(*client));
            blockers.extend(late);
        }
        blockers.sort_unstable();
        blockers.dedup();
        blockers
    }

    /// Serves those of a file who can have their locks now: NLM owners get them, owners of NFSv4 get a notice and have their
    /// turn.
    pub fn wake(
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
                    self.file_mut(key).waiters.give_turn(place, turn_until);
                    effects.push(Effect::Notify { client: *client, owner: owner.clone(), key: key.clone() });
                }
                // Local processes wait in the kernel, never here.
                LockOwner::Nlm(_) | LockOwner::Local => {
                    let Waiter { owner, range, kind, .. } = &waiter;
                    grants.push(self.grant(&LockWish { key, owner, range: *range, kind: *kind }, effects));
                }
            }
        }
        grants
    }

    fn next_in_line(&self, key: &K, now: Duration) -> Option<(usize, Waiter)> {
        let file = self.files.get(key).filter(|file| !file.waiters.is_empty())?;
        let place = file.next_in_line(now)?;
        Some((place, file.waiters.at(place)?.clone()))
    }
}
