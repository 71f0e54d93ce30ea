//! The read delegations of each file. Any number of clients may have one while nobody writes.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::change_watch::ChangeWatch;
use super::delegated_children::DelegatedChildren;
use crate::effects::Effect;
use crate::ids::{ClientId, StateId};

/// A client's delegation of a file.
#[derive(Debug)]
struct Delegate {
    client: ClientId,
    stateid: StateId,
    /// Whether it is recalled when files in the directory change, too.
    has_children: bool,
    /// Since when it is recalled.
    recalled: Option<Duration>,
}

impl Delegate {
    /// Whether a change of the file, or of one `in_it`, recalls it. A client does not wait for itself.
    fn is_hit(&self, by: Option<ClientId>, in_it: bool) -> bool {
        Some(self.client) != by && (self.has_children || !in_it)
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
    /// Files with delegations that are being recalled.
    recalling: HashSet<K>,
    /// Files whose delegations were recalled a short time ago, and when new ones may be given.
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

    /// Each change of a file is reported here. [`NfsState::recall`](crate::NfsState::recall) is needed only if it may be delegated.
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
    pub(crate) fn give(&mut self, now: Duration, key: &K, client: ClientId, stateid: StateId) -> bool {
        let is_resting = self.resting.get(key).is_some_and(|until| now < *until);
        let keeps = |one: &Delegate| one.client == client || one.recalled.is_some();
        let is_taken = self.held.get(key).is_some_and(|held| held.iter().any(keeps));
        // Last of all: what is given must be taken again.
        if is_resting || is_taken || !self.watch.give(key) {
            return false;
        }
        let one = Delegate { client, stateid, has_children: false, recalled: None };
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

    /// Clients who have a delegation that a change of a file recalls.
    pub(crate) fn holders(&self, key: &K, by: Option<ClientId>) -> Vec<ClientId> {
        let parents = self.parents(key);
        let causes = std::iter::once((key, false)).chain(parents.iter().map(|parent| (parent, true)));
        let held = causes.filter_map(|(key, in_it)| Some((self.held.get(key)?, in_it)));
        let hit = held.flat_map(|(held, in_it)| held.iter().filter(move |one| one.is_hit(by, in_it)));
        hit.map(|one| one.client).collect()
    }

    /// Recalls all delegations that a change of a file recalls. Whether there are any.
    pub(crate) fn recall(
        &mut self,
        now: Duration,
        key: &K,
        by: Option<ClientId>,
        effects: &mut Vec<Effect<K>>,
    ) -> bool {
        let parents = self.parents(key).into_iter().map(|parent| (parent, true));
        let mut are_any = false;
        for (key, in_it) in std::iter::once((key.clone(), false)).chain(parents) {
            let held = self.held.get_mut(&key).into_iter().flatten();
            for one in held.filter(|one| one.is_hit(by, in_it)) {
                are_any = true;
                if one.recalled.is_none() {
                    one.recalled = Some(now);
                    self.recalling.insert(key.clone());
                    self.resting.insert(key.clone(), now + self.rest);
                    let (client, stateid) = (one.client, one.stateid);
                    effects.push(Effect::Recall { client, stateid, key: key.clone() });
                }
            }
        }
        are_any
    }

    /// Takes delegations that were recalled so long ago. Forgets which files rested.
    pub(crate) fn take_overdue(&mut self, now: Duration, patience: Duration) -> Vec<(K, ClientId, StateId)> {
        self.resting.retain(|_, until| now < *until);
        let files = self.recalling.iter().filter_map(|key| Some((key, self.held.get(key)?)));
        let all = files.flat_map(|(key, held)| held.iter().map(move |one| (key, one)));
        let overdue = all.filter(|(_, one)| one.recalled.is_some_and(|since| now >= since + patience));
        let overdue: Vec<_> = overdue.map(|(key, one)| (key.clone(), one.client, one.stateid)).collect();
        overdue.iter().for_each(|(key, client, _)| self.end(key, *client));
        overdue
    }

    /// Files that are delegated.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.held.keys()
    }

    /// Directories whose delegations are recalled when a file changes, since it is in them.
    fn parents(&self, key: &K) -> Vec<K> {
        self.children.parents(ChangeWatch::digest(key))
    }
}
