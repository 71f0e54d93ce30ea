//! Who has read delegations of which file: any number of clients, while nobody writes.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::change_watch::ChangeWatch;
use super::delegated_children::DelegatedChildren;
use crate::ids::ClientId;

/// A client's delegation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delegate {
    /// Whose it is.
    pub client: ClientId,
    /// The number of its stateid.
    pub index: u32,
    /// Whether it is recalled when files in the directory change, too.
    has_children: bool,
    /// Since when it is recalled.
    recalled: Option<Duration>,
}

/// A change that recalls delegations.
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

/// All read delegations.
#[derive(Debug)]
pub struct DelegationTable<K> {
    watch: Arc<ChangeWatch>,
    held: HashMap<K, Vec<Delegate>>,
    /// How many there are.
    count: usize,
    /// Files in delegated directories.
    children: DelegatedChildren<K>,
    /// The most of them.
    children_most: usize,
    /// Files of which some are recalled.
    recalling: HashSet<K>,
    /// Files of which some were recalled not long ago, and until when none is given.
    resting: HashMap<K, Duration>,
    rest: Duration,
}

impl<K: Clone + Eq + Hash> DelegationTable<K> {
    /// None yet. After a recall no delegation of the file is given for `rest`; at most `children_most` files of directories are known.
    pub(crate) fn new(rest: Duration, children_most: usize) -> Self {
        let (held, recalling, resting) = (HashMap::new(), HashSet::new(), HashMap::new());
        let (watch, children) = (Arc::default(), DelegatedChildren::default());
        Self { watch, held, count: 0, children, children_most, recalling, resting, rest }
    }

    /// Whoever changes a file says so here: [`NfsState::recall`](crate::NfsState::recall) need be asked only if it may be delegated.
    pub fn watch(&self) -> Arc<ChangeWatch> {
        self.watch.clone()
    }

    /// How many delegations there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a change of a file recalls anybody's delegation.
    pub fn is_delegated(&self, key: &K) -> bool {
        self.held.contains_key(key) || !self.parents(key).is_empty()
    }

    /// A client's delegation of a directory, which was just given, is to be recalled when files in it change, too: from now on those
    /// count that are [added](Self::add_children). Whether the client has one that is not recalled yet.
    pub fn open_children(&mut self, client: ClientId, directory: &K) -> bool {
        let Some(held) = self.held.get_mut(directory) else { return false };
        let is_it = |one: &&mut Delegate| one.client == client && one.recalled.is_none();
        let Some(one) = held.iter_mut().find(is_it) else { return false };
        one.has_children = true;
        self.children.open(directory);
        true
    }

    /// Files are in a directory: this counts where changes of its files recall delegations. `false`: there are too many. Then the
    /// promise cannot be kept, and must be [withdrawn](Self::end_children) or the delegation recalled.
    pub fn add_children<'k>(&mut self, directory: &K, children: impl IntoIterator<Item = &'k K>) -> bool
    where
        K: 'k,
    {
        if !self.children.has(directory) {
            return true;
        }
        children.into_iter().all(|child| {
            let digest = ChangeWatch::digest(child);
            let has_room = self.children.count() < self.children_most;
            if has_room && self.children.add(directory, digest) {
                self.watch.give_child(digest);
            }
            has_room
        })
    }

    /// The client does not know that changes of files in a directory recall its delegation: they do not.
    pub fn end_children(&mut self, client: ClientId, directory: &K) {
        let Some(held) = self.held.get_mut(directory) else { return };
        held.iter_mut().filter(|one| one.client == client).for_each(|one| one.has_children = false);
        self.close_children(directory);
    }

    /// The files of a directory count no more unless somebody's delegation is recalled when they change.
    fn close_children(&mut self, directory: &K) {
        if !self.held.get(directory).is_some_and(|held| held.iter().any(|one| one.has_children)) {
            self.children.close(directory).into_iter().for_each(|digest| self.watch.take_child(digest));
        }
    }

    /// Gives a client a delegation of a file that nobody writes, if it may have one.
    pub(crate) fn give(&mut self, now: Duration, key: &K, client: ClientId, index: u32) -> bool {
        let is_resting = self.resting.get(key).is_some_and(|until| now < *until);
        let keeps = |one: &Delegate| one.client == client || one.recalled.is_some();
        let is_taken = self.held.get(key).is_some_and(|held| held.iter().any(keeps));
        // Last of all: what is given must be taken again.
        if is_resting || is_taken || !self.watch.give(key) {
            return false;
        }
        let one = Delegate { client, index, has_children: false, recalled: None };
        self.held.entry(key.clone()).or_default().push(one);
        self.count += 1;
        true
    }

    /// A client has a delegation no longer.
    pub(crate) fn end(&mut self, key: &K, client: ClientId) {
        let Some(held) = self.held.get_mut(key) else { return };
        let before = held.len();
        held.retain(|one| one.client != client);
        if held.len() < before {
            self.count -= 1;
            self.watch.take(key);
        }
        if held.iter().all(|one| one.recalled.is_none()) {
            self.recalling.remove(key);
        }
        if held.is_empty() {
            self.held.remove(key);
        }
        self.close_children(key);
    }

    /// Clients who have a delegation that a change recalls.
    pub(crate) fn holders(&self, cause: RecallCause<'_, K>) -> impl Iterator<Item = ClientId> {
        let held = self.held.get(cause.key).into_iter().flatten();
        held.filter(move |one| cause.concerns(one)).map(|one| one.client)
    }

    /// Recalls all delegations that a change recalls. Those that were not recalled yet.
    pub(crate) fn recall(&mut self, now: Duration, cause: RecallCause<'_, K>) -> Vec<Delegate> {
        let held = self.held.get_mut(cause.key).into_iter().flatten();
        let new = held.filter(|one| cause.concerns(one) && one.recalled.is_none()).map(|one| {
            one.recalled = Some(now);
            *one
        });
        let new: Vec<Delegate> = new.collect();
        if !new.is_empty() {
            self.recalling.insert(cause.key.clone());
            self.resting.insert(cause.key.clone(), now + self.rest);
        }
        new
    }

    /// Delegations that were recalled so long ago. Forgets which files rested.
    pub(crate) fn overdue(&mut self, now: Duration, patience: Duration) -> Vec<(K, Delegate)> {
        self.resting.retain(|_, until| now < *until);
        let files = self.recalling.iter().filter_map(|key| Some((key, self.held.get(key)?)));
        let all = files.flat_map(|(key, held)| held.iter().map(move |one| (key, *one)));
        let overdue = all.filter(|(_, one)| one.recalled.is_some_and(|since| now >= since + patience));
        overdue.map(|(key, one)| (key.clone(), one)).collect()
    }

    /// Files of which somebody has a delegation.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.held.keys()
    }

    /// Directories whose delegations are recalled when a file changes, since it is in them.
    pub(crate) fn parents(&self, key: &K) -> Vec<K> {
        self.children.parents(ChangeWatch::digest(key))
    }
}
