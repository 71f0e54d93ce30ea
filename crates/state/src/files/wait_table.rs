//! The locks of all files that are waited for.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use super::lock_wish::LockWish;
use super::usage::{Party, Usage};
use super::waiters::{Waiter, Waiters};
use crate::ids::{LockKind, LockOwner};
use crate::memory;

/// The locks of all files that are waited for.
#[derive(Debug)]
pub struct WaitTable<K> {
    files: HashMap<K, Waiters>,
    /// The files of which an owner waits for locks: one for each.
    of_owner: HashMap<LockOwner, Vec<K>>,
    usage: Usage,
}

impl<K> Default for WaitTable<K> {
    fn default() -> Self {
        let (files, of_owner, usage) = Default::default();
        Self { files, of_owner, usage }
    }
}

/// Memory of a lock that this owner waits for: its name is kept twice.
fn bytes_of_wait(owner: &LockOwner) -> usize {
    memory::WAITER + 2 * owner.name_length()
}

impl<K: Clone + Eq + Hash> WaitTable<K> {
    /// Remembers a lock that was denied, if its client or host has fewer than `most` of them.
    pub(super) fn remember(&mut self, wish: &LockWish<'_, K>, now: Duration, most: usize) -> bool {
        let LockWish { key, owner, range, kind } = *wish;
        let party = Party::from(owner);
        if self.usage.count(party) >= most {
            return self.of(key).any(|waiter| waiter.is(owner, range, kind));
        }
        if self.files.entry(key.clone()).or_default().remember(owner, range, kind, now) {
            self.usage.add(party, 1, bytes_of_wait(owner));
            self.of_owner.entry(owner.clone()).or_default().push(key.clone());
        }
        true
    }

    /// Forgets waiters of a file. Whether there were any.
    pub(super) fn forget(&mut self, key: &K, is_over: impl FnMut(&Waiter) -> bool) -> bool {
        let Some(queue) = self.files.get_mut(key) else { return false };
        let forgotten = queue.forget(is_over);
        if queue.is_empty() {
            self.files.remove(key);
        }
        for Waiter { owner, .. } in &forgotten {
            self.usage.add(Party::from(owner), -1, bytes_of_wait(owner));
            self.waits_no_more(owner, key);
        }
        !forgotten.is_empty()
    }

    fn waits_no_more(&mut self, owner: &LockOwner, key: &K) {
        let Some(keys) = self.of_owner.get_mut(owner) else { return };
        if let Some(place) = keys.iter().position(|one| one == key) {
            keys.swap_remove(place);
        }
        if keys.is_empty() {
            self.of_owner.remove(owner);
        }
    }

    /// Forgets waiters of all files. Files where others may be next.
    pub(super) fn forget_everywhere(&mut self, is_over: impl Fn(&Waiter) -> bool) -> Vec<K> {
        self.keys()
            .cloned()
            .collect::<Vec<K>>()
            .into_iter()
            .filter(|key| self.forget(key, &is_over))
            .collect()
    }

    /// Gives a waiter its turn.
    pub(super) fn give_turn(&mut self, key: &K, place: usize, until: Duration) {
        if let Some(queue) = self.files.get_mut(key) {
            queue.give_turn(place, until);
        }
    }

    /// Those who wait for something of a file, in order.
    pub fn of(&self, key: &K) -> impl Iterator<Item = &Waiter> {
        self.files.get(key).into_iter().flat_map(Waiters::iter)
    }

    /// What an owner waits for that has no turn and waits for nothing else.
    pub(super) fn only_wait_of(&self, owner: &LockOwner) -> Option<(&K, &Waiter)> {
        let [key] = self.of_owner.get(owner)?.as_slice() else { return None };
        let waiter = self.of(key).find(|waiter| waiter.owner == *owner && waiter.turn_until.is_none())?;
        Some((key, waiter))
    }

    /// All waiters, with their file.
    pub fn all(&self) -> impl Iterator<Item = (&K, &Waiter)> {
        self.files.iter().flat_map(|(key, queue)| queue.iter().map(move |waiter| (key, waiter)))
    }

    /// Whether anybody waits to lock any of a file for writing.
    pub fn has_writer(&self, key: &K) -> bool {
        self.of(key).any(|waiter| waiter.kind == LockKind::Write)
    }

    /// What clients and hosts wait for.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Files with waiters.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.files.keys()
    }
}
