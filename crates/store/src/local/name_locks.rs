//! Locks that keep our own calls apart where one takes two steps by name: make a node and open it, look at a node and
//! remove it. Other processes are not kept out, and each such call copes with that.

use parking_lot::{Mutex, MutexGuard};

use super::handles::file_number;
use super::node::Node;

/// Locks that directories share: many more than there are busy workers.
const COUNT: usize = 256;

/// The locks.
pub(super) struct NameLocks {
    locks: Box<[Mutex<()>]>,
}

/// Holds the names of one or two directories.
pub(super) struct Held<'a> {
    _first: MutexGuard<'a, ()>,
    _second: Option<MutexGuard<'a, ()>>,
}

impl NameLocks {
    pub(super) fn new() -> Self {
        Self { locks: (0..COUNT).map(|_| Mutex::default()).collect() }
    }

    /// Holds the names of a directory.
    pub(super) fn hold(&self, directory: &Node) -> Held<'_> {
        Held { _first: self.locks[place(directory)].lock(), _second: None }
    }

    /// Holds the names of two directories, in an order that is the same for all.
    pub(super) fn hold_two(&self, one: &Node, other: &Node) -> Held<'_> {
        let (one, other) = (place(one), place(other));
        let _first = self.locks[one.min(other)].lock();
        let _second = (one != other).then(|| self.locks[one.max(other)].lock());
        Held { _first, _second }
    }
}

fn place(directory: &Node) -> usize {
    file_number(&directory.handle) as usize % COUNT
}
