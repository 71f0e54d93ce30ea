//! Who has read delegations, in the table of files (RFC 8881 10.4): any number of clients, while nobody writes.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::{ChangeWatch, Delegate, FileTable, ShareMode};
use crate::ids::{ClientId, LockKind, ShareAccess};

/// Whether an open or share keeps others from having delegations.
pub fn excludes_delegations(mode: ShareMode) -> bool {
    mode.access.allows(ShareAccess::WRITE) || mode.deny.denies(ShareAccess::READ)
}

impl<K: Clone + Eq + Hash> FileTable<K> {
    /// Changes under way, for whoever changes files.
    pub fn change_watch(&self) -> Arc<ChangeWatch> {
        self.delegations.watch.clone()
    }

    /// How many delegations there are.
    pub fn count_delegations(&self) -> usize {
        self.delegations.count
    }

    /// Gives a client a delegation of a file, if it may have one.
    pub fn delegate(&mut self, now: Duration, key: &K, client: ClientId, index: u32) -> bool {
        if self.delegations.resting.get(key).is_some_and(|until| now < *until) {
            return false;
        }
        let is_taken = self.files.get(key).is_some_and(|file| {
            file.shares.modes().any(excludes_delegations)
                || file.locks.all().any(|(_, _, kind)| kind == LockKind::Write)
                || file.waiters.iter().any(|waiter| waiter.kind == LockKind::Write)
                || file.delegations.iter().any(|one| one.client == client || one.recalled.is_some())
        });
        // Last of all: what is given must be taken again.
        if is_taken || !self.delegations.watch.give(key) {
            return false;
        }
        self.file_mut(key).delegations.push(Delegate { client, index, recalled: None });
        self.delegations.count += 1;
        true
    }

    /// Other clients who have a delegation of a file.
    pub fn delegates(&self, key: &K, except: Option<ClientId>) -> impl Iterator<Item = ClientId> {
        let held = self.files.get(key).into_iter().flat_map(|file| &file.delegations);
        held.map(|one| one.client).filter(move |client| Some(*client) != except)
    }

    /// Asks for all delegations of a file back but those of one client. Those that were not asked for yet.
    pub fn recall(
        &mut self,
        now: Duration,
        key: &K,
        except: Option<ClientId>,
        rest: Duration,
    ) -> Vec<Delegate> {
        let Some(file) = self.files.get_mut(key) else { return Vec::new() };
        let others = file.delegations.iter_mut().filter(|one| Some(one.client) != except);
        let new: Vec<Delegate> = others
            .filter(|one| one.recalled.is_none())
            .map(|one| {
                one.recalled = Some(now);
                *one
            })
            .collect();
        if !new.is_empty() {
            self.delegations.recalling.insert(key.clone());
            self.delegations.resting.insert(key.clone(), now + rest);
        }
        new
    }

    /// Whether anybody has a delegation of a file.
    pub fn is_delegated(&self, key: &K) -> bool {
        self.files.get(key).is_some_and(|file| !file.delegations.is_empty())
    }

    /// Files of which somebody has a delegation, of those that are meant.
    pub fn delegated(&self, is_meant: impl Fn(&K) -> bool) -> Vec<K> {
        let delegated = self.files.iter().filter(|(_, file)| !file.delegations.is_empty());
        delegated.filter(|(key, _)| is_meant(key)).map(|(key, _)| key.clone()).collect()
    }

    /// A client has a delegation no longer.
    pub fn end_delegation(&mut self, key: &K, client: ClientId) {
        let Some(file) = self.files.get_mut(key) else { return };
        let before = file.delegations.len();
        file.delegations.retain(|one| one.client != client);
        if file.delegations.len() < before {
            self.delegations.count -= 1;
            self.delegations.watch.take(key);
        }
        if file.delegations.iter().all(|one| one.recalled.is_none()) {
            self.delegations.recalling.remove(key);
        }
        self.tidy(None, key);
    }

    /// Delegations that were asked for back so long ago. Forgets which files rested.
    pub fn overdue(&mut self, now: Duration, patience: Duration) -> Vec<(K, Delegate)> {
        self.delegations.resting.retain(|_, until| now < *until);
        let files = self.delegations.recalling.iter().filter_map(|key| Some((key, self.files.get(key)?)));
        let all = files.flat_map(|(key, file)| file.delegations.iter().map(move |one| (key, *one)));
        let overdue = all.filter(|(_, one)| one.recalled.is_some_and(|since| now >= since + patience));
        overdue.map(|(key, one)| (key.clone(), one)).collect()
    }
}
