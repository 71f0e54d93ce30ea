//! Deadlocks: owners each of which waits for a lock of the next, and the last one for a lock of the first.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use super::lapsed::Lapsed;
use super::lock_wish::LockWish;
use super::range_table::RangeTable;
use super::wait_table::WaitTable;
use crate::ids::LockOwner;

/// The most owners that are looked at for one request. A longer chain is not seen.
const OWNERS_MOST: usize = 64;

/// What an owner waits for.
struct Wait<'w, K> {
    wish: LockWish<'w, K>,
    /// The latest time at which an owner of this chain began to wait.
    closed: Duration,
    /// The earliest time at which an owner of NFSv4 in this chain, other than the first, last asked. None: there is none.
    asked: Option<Duration>,
}

/// Whether a lock that was denied and that is waited for can never be had: some owner in the way waits, directly or through others,
/// for a lock of the owner that asks.
///
/// A client of NFSv4 does not say that it gave up, as a process does that is interrupted. So its owners count only if they asked again
/// once the chain was closed. Hosts cancel. An owner that waits for two locks has threads, and one may unlock: it does not count.
pub(super) fn is_deadlock<K: Clone + Eq + Hash>(
    ranges: &RangeTable<K>,
    waits: &WaitTable<K>,
    wish: &LockWish<'_, K>,
    now: Duration,
    lapsed: Lapsed<'_>,
) -> bool {
    let LockWish { key, owner, range, kind } = *wish;
    let since = waits.of(key).find(|waiter| waiter.is(owner, range, kind)).map_or(now, |waiter| waiter.since);
    let mut ways = vec![Wait { wish: *wish, closed: since, asked: None }];
    let mut seen = HashSet::new();
    while let Some(way) = ways.pop() {
        let held = ranges.conflicts(&way.wish).map(|(holder, ..)| holder);
        for holder in held.filter(|holder| !holder.client().is_some_and(lapsed)) {
            if holder == owner {
                if way.asked.is_none_or(|asked| asked > way.closed) {
                    return true;
                }
            } else if seen.len() < OWNERS_MOST && seen.insert(holder) {
                ways.extend(next_wait(waits, holder, &way));
            }
        }
    }
    false
}

/// What the next owner of a chain waits for.
fn next_wait<'w, K: Clone + Eq + Hash>(
    waits: &'w WaitTable<K>,
    holder: &LockOwner,
    way: &Wait<'_, K>,
) -> Option<Wait<'w, K>> {
    let (key, waiter) = waits.only_wait_of(holder)?;
    let mine = holder.client().map(|_| waiter.asked);
    let (closed, asked) = (way.closed.max(waiter.since), [way.asked, mine].into_iter().flatten().min());
    Some(Wait { wish: waiter.wish(key), closed, asked })
}
