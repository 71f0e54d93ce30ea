//! Byte-range locks, in the table of files.

use std::hash::Hash;
use std::time::Duration;

use super::table::in_the_way;
use super::{FileTable, Lapsed, Party};
use crate::effects::{Effect, LockGrant, MirrorPiece};
use crate::error::LockConflict;
use crate::ids::{ByteRange, ClientId, HostId, LockKind, LockOwner};
use crate::memory;

/// A lock that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockWish<'w, K> {
    /// Of which file.
    pub key: &'w K,
    /// Who.
    pub owner: &'w LockOwner,
    /// Which bytes.
    pub range: ByteRange,
    /// How.
    pub kind: LockKind,
}

/// Memory of a range that this owner locks.
pub fn bytes_of_range(owner: &LockOwner) -> usize {
    memory::RANGE + owner.name_length()
}

impl<K: Clone + Eq + Hash> FileTable<K> {
    /// Whether a lock may be granted: if those clients end that are returned.
    ///
    /// # Errors
    ///
    /// What is in the way.
    pub fn may_lock(
        &self,
        wish: &LockWish<'_, K>,
        now: Duration,
        lapsed: Lapsed<'_>,
    ) -> Result<Vec<ClientId>, Box<LockConflict>> {
        let Some(file) = self.files.get(wish.key) else { return Ok(Vec::new()) };
        let others = file.conflicts(wish.owner, wish.range, wish.kind, now);
        in_the_way(others, |(owner, ..)| owner.client(), lapsed).map_err(|(owner, range, kind)| {
            Box::new(LockConflict { owner: owner.clone(), range, kind, is_waiting: false })
        })
    }

    /// Grants a lock that may be granted. Its owner waits no more for what lies in it.
    pub fn grant(&mut self, wish: &LockWish<'_, K>, effects: &mut Vec<Effect<K>>) -> LockGrant<K> {
        let LockWish { key, owner, range, kind } = *wish;
        let before = self.within(key, owner, range);
        self.set_range(key, owner, range, Some(kind), effects);
        let is_served = |held: ByteRange, wanted: LockKind| {
            held.intersection(range) == Some(held) && (wanted == kind || kind == LockKind::Write)
        };
        self.forget_waits(key, |waiter| waiter.owner == *owner && is_served(waiter.range, waiter.kind));
        LockGrant { owner: owner.clone(), key: key.clone(), range, kind, before }
    }

    /// Sets what an owner holds of these bytes.
    pub fn set_range(
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
        let locks = &mut self.file_mut(key).locks;
        let growth = locks.set(owner, range, kind);
        if *owner != LockOwner::Local {
            effects.push(Effect::Mirror { key: key.clone(), range });
        }
        self.ranges.add(Party::from(owner), growth);
        self.bytes.add(Party::from(owner), growth * bytes_of_range(owner) as isize);
        match kind {
            Some(_) => self.enlist(owner.host(), key),
            None => self.tidy(owner.host(), key),
        }
    }

    /// Byte ranges of a file that NFS owners have locked.
    pub fn ranges_of_file(&self, key: &K) -> usize {
        self.files.get(key).map_or(0, |file| file.locks.count())
    }

    /// What NFS owners together hold of these bytes: pieces that cover them, ascending. And whether they hold anything of the file.
    pub fn held(&self, key: &K, range: ByteRange) -> (Vec<MirrorPiece>, bool) {
        match self.files.get(key) {
            Some(file) => (file.locks.union(range), file.locks.is_held()),
            None => (vec![MirrorPiece { range, kind: None }], false),
        }
    }

    /// What an owner holds of these bytes, ascending.
    pub fn within(&self, key: &K, owner: &LockOwner, range: ByteRange) -> Vec<(ByteRange, LockKind)> {
        let set = self.files.get(key).and_then(|file| file.locks.of(owner));
        set.into_iter().flat_map(|set| set.within(range)).collect()
    }

    /// Whether unlocking these bytes makes two ranges of one.
    pub fn splits(&self, key: &K, owner: &LockOwner, range: ByteRange) -> bool {
        let set = self.files.get(key).and_then(|file| file.locks.of(owner));
        set.is_some_and(|set| set.splits(range))
    }

    /// Owners of a host with locks of a file.
    pub fn owners_of_host(&self, key: &K, host: HostId) -> Vec<LockOwner> {
        let file = self.files.get(key);
        file.into_iter().flat_map(|file| file.locks.of_host(host)).cloned().collect()
    }
}
