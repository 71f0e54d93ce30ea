//! The entries of a directory: by name for lookups, and in the order of their making for listings.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::number::Number;

/// The cookie of `.`.
pub(super) const DOT: u64 = 1;
/// The cookie of `..`.
pub(super) const DOT_DOT: u64 = 2;

/// What a name leads to.
struct Slot {
    node: Number,
    cookie: u64,
}

/// Names and what they lead to. Each name gets a cookie when it comes, larger than all before it, and keeps it until
/// it goes; so a listing that goes on "after cookie N" meets every name that stays exactly once.
pub(super) struct Entries {
    slots: HashMap<Arc<[u8]>, Slot>,
    order: BTreeMap<u64, Arc<[u8]>>,
    next_cookie: u64,
}

impl Entries {
    /// None but `.` and `..`, which are not kept here.
    pub(super) fn new() -> Self {
        Self { slots: HashMap::new(), order: BTreeMap::new(), next_cookie: DOT_DOT + 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<Number> {
        self.slots.get(name).map(|slot| slot.node)
    }

    /// Lets the name lead to `node`. A name that is there already keeps its cookie: it was there all the time.
    pub(super) fn put(&mut self, name: &[u8], node: Number) {
        if let Some(slot) = self.slots.get_mut(name) {
            slot.node = node;
            return;
        }
        let name: Arc<[u8]> = name.into();
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.order.insert(cookie, Arc::clone(&name));
        self.slots.insert(name, Slot { node, cookie });
    }

    pub(super) fn take(&mut self, name: &[u8]) {
        if let Some(slot) = self.slots.remove(name) {
            self.order.remove(&slot.cookie);
        }
    }

    /// The entries after that cookie: cookie, name, node.
    pub(super) fn after(&self, cookie: u64) -> impl Iterator<Item = (u64, &Arc<[u8]>, Number)> {
        let later = self.order.range((std::ops::Bound::Excluded(cookie), std::ops::Bound::Unbounded));
        later.map(|(&cookie, name)| (cookie, name, self.slots[name].node))
    }
}
