//! Who has read delegations, in the table of files (RFC 8881 10.4): any number of clients, while nobody writes.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::{ChangeWatch, Delegate, DelegationTable, FileTable, ShareMode};
use crate::ids::{ClientId, LockKind, ShareAccess};

/// A change that calls delegations back.
#[derive(Debug)]
pub struct RecallCause<'k, K> {
    /// The file or directory.
    pub key: &'k K,
    /// Who changes it: a client does not wait for itself.
    pub by: Option<ClientId>,
    /// Whether a file in it changes, and not the directory.
    pub in_it: bool,
}

impl<K> Clone for RecallCause<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for RecallCause<'_, K> {}

impl<K> RecallCause<'_, K> {
    fn concerns(&self, one: &Delegate) -> bool {
        Some(one.client) != self.by && (one.has_children || !self.in_it)
    }
}

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
        self.file_mut(key).delegations.push(Delegate { client, index, has_children: false, recalled: None });
        self.delegations.count += 1;
        true
    }

    /// Clients who have a delegation that a change calls back.
    pub fn delegates(&self, cause: RecallCause<'_, K>) -> impl Iterator<Item = ClientId> {
        let held = self.files.get(cause.key).into_iter().flat_map(|file| &file.delegations);
        held.filter(move |one| cause.concerns(one)).map(|one| one.client)
    }

    /// Asks for all delegations back that a change calls back. Those that were not asked for yet.
    pub fn recall(&mut self, now: Duration, cause: RecallCause<'_, K>, rest: Duration) -> Vec<Delegate> {
        let key = cause.key;
        let Some(file) = self.files.get_mut(key) else { return Vec::new() };
        let others = file.delegations.iter_mut().filter(|one| cause.concerns(one));
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

    /// A client's delegation of a directory is asked for back from now on when files in it change, too. Whether it has one that was not
    /// asked for back yet.
    pub fn open_children(&mut self, directory: &K, client: ClientId) -> bool {
        let Some(file) = self.files.get_mut(directory) else { return false };
        let mut held = file.delegations.iter_mut();
        let Some(one) = held.find(|one| one.client == client && one.recalled.is_none()) else { return false };
        one.has_children = true;
        self.delegations.children.open(directory);
        true
    }

    /// Files are in a directory, which counts where files in it call its delegations back. Whether there was room for all.
    pub fn add_children<'k>(
        &mut self,
        directory: &K,
        children: impl IntoIterator<Item = &'k K>,
        most: usize,
    ) -> bool
    where
        K: 'k,
    {
        let DelegationTable { children: known, watch, .. } = &mut self.delegations;
        if !known.has(directory) {
            return true;
        }
        children.into_iter().all(|child| {
            let digest = ChangeWatch::digest(child);
            let has_room = known.count() < most;
            if has_room && known.add(directory, digest) {
                watch.give_child(digest);
            }
            has_room
        })
    }

    /// A client's delegation of a directory is not asked for back when files in it change.
    pub fn end_children(&mut self, directory: &K, client: ClientId) {
        let Some(file) = self.files.get_mut(directory) else { return };
        let own = file.delegations.iter_mut().filter(|one| one.client == client);
        own.for_each(|one| one.has_children = false);
        if !file.delegations.iter().any(|one| one.has_children) {
            self.close_children(directory);
        }
    }

    fn close_children(&mut self, directory: &K) {
        let DelegationTable { children, watch, .. } = &mut self.delegations;
        children.close(directory).into_iter().for_each(|digest| watch.take_child(digest));
    }

    /// Directories whose delegations are asked for back when a file changes, since it is in them.
    pub fn parents(&self, key: &K) -> Vec<K> {
        self.delegations.children.parents(ChangeWatch::digest(key))
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
        if !file.delegations.iter().any(|one| one.has_children) {
            self.close_children(key);
        }
        let Some(file) = self.files.get(key) else { return };
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
