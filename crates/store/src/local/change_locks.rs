//! Locks that keep our own changes of a node apart: what a client gets of the node before and after a change holds for that
//! change alone, and a call may take two steps by name. Local processes are not kept out: each call copes with that.

use parking_lot::{Mutex, MutexGuard};

use super::handles::file_number;
use super::node::Node;

/// Locks that nodes share: many more than there are busy workers.
const COUNT: usize = 256;

/// The locks.
pub(super) struct ChangeLocks {
    locks: Box<[Mutex<()>]>,
}

/// Holds the changes of one or two nodes.
pub(super) struct Held<'a> {
    _first: MutexGuard<'a, ()>,
    _second: Option<MutexGuard<'a, ()>>,
}

impl ChangeLocks {
    pub(super) fn new() -> Self {
        Self { locks: (0..COUNT).map(|_| Mutex::default()).collect() }
    }

    /// Holds the changes of a node.
    pub(super) fn hold(&self, node: &Node) -> Held<'_> {
        Held { _first: self.locks[place(node)].lock(), _second: None }
    }

    /// Holds those of two nodes, in an order that is the same for all.
    pub(super) fn hold_two(&self, one: &Node, other: &Node) -> Held<'_> {
        let (one, other) = (place(one), place(other));
        let _first = self.locks[one.min(other)].lock();
        let _second = (one != other).then(|| self.locks[one.max(other)].lock());
        Held { _first, _second }
    }
}

fn place(node: &Node) -> usize {
    file_number(&node.handle) as usize % COUNT
}
