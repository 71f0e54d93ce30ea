//! Deadlocks: owners each of which waits for a lock of the next, and the last one for a lock of the first.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use super::waiters::Waiter;
use super::{FileTable, Lapsed, LockWish};
use crate::ids::{ByteRange, LockKind, LockOwner};

/// The most owners that are looked at for one request. A longer chain is not seen.
const OWNERS_MOST: usize = 64;

/// What an owner waits for.
struct Wait<'w, K> {
    key: &'w K,
    owner: &'w LockOwner,
    range: ByteRange,
    kind: LockKind,
    /// The latest time at which an owner of this chain began to wait.
    closed: Duration,
    /// The earliest time at which an owner of NFSv4 in this chain, other than the first, last asked. None: there is none.
    asked: Option<Duration>,
}

impl<K: Clone + Eq + Hash> FileTable<K> {
    /// Whether a lock that was denied and that is waited for can never be had: some owner in the way waits, directly or through others,
    /// for a lock of the owner that asks.
    ///
    /// A client of NFSv4 does not say that it gave up, as a process does that is interrupted. So its owners count only if they asked again
    /// once the chain was closed. Hosts cancel. An owner that waits for two locks has threads, of which one may unlock: it does not count.
    pub fn is_deadlock(&self, wish: &LockWish<'_, K>, now: Duration, lapsed: Lapsed<'_>) -> bool {
        let LockWish { key, owner, range, kind } = *wish;
        let since =
            self.waiter(key, |waiter| waiter.is(owner, range, kind)).map_or(now, |waiter| waiter.since);
        let mut ways = vec![Wait { key, owner, range, kind, closed: since, asked: None }];
        let mut seen = HashSet::new();
        while let Some(way) = ways.pop() {
            let Some(file) = self.files.get(way.key) else { continue };
            let held = file.locks.conflicts(way.owner, way.range, way.kind).map(|(holder, ..)| holder);
            for holder in held.filter(|holder| !holder.client().is_some_and(lapsed)) {
                if holder == owner {
                    if way.asked.is_none_or(|asked| asked > way.closed) {
                        return true;
                    }
                } else if seen.len() < OWNERS_MOST && seen.insert(holder) {
                    ways.extend(self.next_wait(holder, &way));
                }
            }
        }
        false
    }

    /// What the next owner of a chain waits for.
    fn next_wait<'w>(&'w self, holder: &'w LockOwner, way: &Wait<'w, K>) -> Option<Wait<'w, K>> {
        let [key] = self.waits_of_owner.get(holder)?.as_slice() else { return None };
        let waiter = self.waiter(key, |waiter| waiter.owner == *holder && waiter.turn_until.is_none())?;
        let Waiter { owner, range, kind, since, asked, .. } = waiter;
        let mine = holder.client().map(|_| *asked);
        let (closed, asked) = (way.closed.max(*since), [way.asked, mine].into_iter().flatten().min());
        Some(Wait { key, owner, range: *range, kind: *kind, closed, asked })
    }

    fn waiter(&self, key: &K, is_it: impl Fn(&Waiter) -> bool) -> Option<&Waiter> {
        self.files.get(key)?.waiters.iter().find(|waiter| is_it(waiter))
    }
}
