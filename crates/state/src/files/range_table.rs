//! The byte ranges of all files that are locked.

use std::collections::HashMap;
use std::hash::Hash;

use super::host_files::HostFiles;
use super::lock_wish::LockWish;
use super::range_locks::{HeldLock, RangeLocks};
use super::usage::{Party, Usage, shrink};
use crate::effects::{Effect, MirrorPiece};
use crate::ids::{ByteRange, HostId, LockKind, LockOwner};
use crate::memory;

/// The byte ranges of all files that are locked.
#[derive(Debug)]
pub struct RangeTable<K> {
    files: HashMap<K, RangeLocks>,
    hosts: HostFiles<K>,
    usage: Usage,
}

impl<K> Default for RangeTable<K> {
    fn default() -> Self {
        let (files, hosts, usage) = Default::default();
        Self { files, hosts, usage }
    }
}

impl<K: Clone + Eq + Hash> RangeTable<K> {
    /// Sets what an owner holds of these bytes.
    pub(super) fn set(
        &mut self,
        key: &K,
        owner: &LockOwner,
        range: ByteRange,
        kind: Option<LockKind>,
        effects: &mut Vec<Effect<K>>,
    ) {
        if kind.is_none() && self.within(key, owner, range).is_empty() {
            return;
        }
        let file = self.files.entry(key.clone()).or_default();
        let growth = file.set(owner, range, kind);
        if *owner != LockOwner::Local {
            effects.push(Effect::Mirror { key: key.clone(), range });
        }
        self.usage.add(Party::from(owner), growth, memory::RANGE + owner.name_length());
        if let Some(host) = owner.host() {
            self.hosts.set(host, key, file.of_host(host).next().is_some());
        }
        if file.is_empty() {
            self.files.remove(key);
        }
    }

    /// Unlocks all that a host has locked. The files.
    pub(super) fn end_host(&mut self, host: HostId, effects: &mut Vec<Effect<K>>) -> Vec<K> {
        let keys = self.hosts.of(host);
        for key in &keys {
            let owners: Vec<_> =
                self.files.get(key).into_iter().flat_map(|file| file.of_host(host)).cloned().collect();
            owners.iter().for_each(|owner| self.set(key, owner, ByteRange::ALL, None, effects));
        }
        keys
    }

    /// Locks of other owners that exclude this one.
    pub(super) fn conflicts<'t>(
        &'t self,
        wish: &LockWish<'t, K>,
    ) -> impl Iterator<Item = HeldLock<'t>> + use<'t, K> {
        let LockWish { key, owner, range, kind } = *wish;
        self.files.get(key).into_iter().flat_map(move |file| file.conflicts(owner, range, kind))
    }

    /// What an owner holds of these bytes, ascending.
    pub fn within(&self, key: &K, owner: &LockOwner, range: ByteRange) -> Vec<(ByteRange, LockKind)> {
        let set = self.files.get(key).and_then(|file| file.of(owner));
        set.into_iter().flat_map(|set| set.within(range)).collect()
    }

    /// Whether unlocking these bytes makes two ranges of one.
    pub fn splits(&self, key: &K, owner: &LockOwner, range: ByteRange) -> bool {
        let set = self.files.get(key).and_then(|file| file.of(owner));
        set.is_some_and(|set| set.splits(range))
    }

    /// What NFS owners together hold of these bytes: pieces that cover them, ascending. And whether they hold anything of the file.
    pub fn union(&self, key: &K, range: ByteRange) -> (Vec<MirrorPiece>, bool) {
        match self.files.get(key) {
            Some(file) => (file.union(range), file.is_held()),
            None => (vec![MirrorPiece { range, kind: None }], false),
        }
    }

    /// All locks.
    pub fn all(&self) -> impl Iterator<Item = (&K, HeldLock<'_>)> {
        self.files.iter().flat_map(|(key, file)| file.all().map(move |lock| (key, lock)))
    }

    /// Whether any of a file is locked for writing.
    pub fn has_writer(&self, key: &K) -> bool {
        self.files.get(key).is_some_and(|file| file.all().any(|(.., kind)| kind == LockKind::Write))
    }

    /// Ranges that clients and hosts have locked.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Ranges of a file that NFS owners have locked.
    pub fn count_of_file(&self, key: &K) -> usize {
        self.files.get(key).map_or(0, RangeLocks::count)
    }

    /// Files of which any is locked.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.files.keys()
    }

    /// Gives memory back once most of what there was is gone.
    pub(crate) fn shrink(&mut self) {
        shrink(&mut self.files);
    }
}
