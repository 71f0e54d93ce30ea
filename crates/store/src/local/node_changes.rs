//! Changes of nodes by our own calls: what a client gets of a node before and after a change.

use std::sync::Arc;

use howdah_vfs::{Attributes, Before, Change, FileKind, FsError, Result};
use parking_lot::{Mutex, MutexGuard};

use super::change_times::{ChangeTimes, Start};
use super::handles::file_number;
use super::node::Node;
use super::open_nodes::OpenNodes;
use super::stable_storage::StableStorage;
use super::stream::Streams;

/// Runs calls that change nodes.
pub(super) struct NodeChanges {
    nodes: Arc<OpenNodes>,
    storage: Arc<StableStorage>,
    streams: Arc<Streams>,
    locks: ChangeLocks,
}

impl NodeChanges {
    pub(super) fn new(nodes: Arc<OpenNodes>, (storage, streams): (Arc<StableStorage>, Arc<Streams>)) -> Self {
        Self { nodes, storage, streams, locks: ChangeLocks::new() }
    }

    fn times(&self) -> &ChangeTimes {
        self.nodes.attributes().times()
    }

    /// Runs a call that changes a node while no other call of ours changes it, and returns the node's attributes before and
    /// after it, whether or not it is refused. What takes long, such as making the change durable, comes after it.
    pub(super) fn changing<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce(&Attributes) -> Result<T>,
    ) -> Result<T> {
        let _held = self.locks.hold(node);
        self.changing_held(node, change, call)
    }

    /// The same for a WRITE, beside which others change the file, too: only the attributes after it are given.
    pub(super) fn changing_data<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce(&Attributes) -> Result<T>,
    ) -> Result<T> {
        let found = self.nodes.stat_as_kernel(node)?;
        let start = self.times().start(&found);
        let outcome = self.require_writable().and_then(|()| call(&self.times().seen(&found)));
        change.after = self.stat_after(node, start, &outcome);
        outcome
    }

    /// The attributes after a call of ours.
    fn stat_after<T>(&self, node: &Node, start: Start, outcome: &Result<T>) -> Option<Attributes> {
        let found = self.nodes.stat_as_kernel(node).ok()?;
        Some(self.times().changed(Some(start), &found, outcome.is_ok()))
    }

    /// The same for who holds the changes of the node.
    fn changing_held<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce(&Attributes) -> Result<T>,
    ) -> Result<T> {
        let found = self.nodes.stat_as_kernel(node)?;
        let (before, start) = (self.times().seen(&found), self.times().start(&found));
        // A WRITE holds no lock, and a file that it changes in between must not pass for unchanged.
        change.before = (before.kind != FileKind::Regular).then(|| Before::from(&before));
        let outcome = self.require_writable().and_then(|()| call(&before));
        change.after = self.stat_after(node, start, &outcome);
        outcome
    }

    /// As [`Self::changing`], for a node that must be a directory.
    pub(super) fn changing_directory<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.storage.prepare_directory(node)?;
        let _held = self.locks.hold(node);
        self.changing_entries(node, change, call)
    }

    /// The same for two directories, which may be one.
    pub(super) fn changing_directories<T>(
        &self,
        (one, other): (&Node, &Node),
        (first, second): (&mut Change, &mut Change),
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.storage.prepare_directory(one)?;
        self.storage.prepare_directory(other)?;
        let _held = self.locks.hold_two(one, other);
        if one.handle == other.handle {
            let outcome = self.changing_entries(one, first, call);
            *second = *first;
            return outcome;
        }
        self.changing_entries(one, first, || self.changing_entries(other, second, call))
    }

    fn changing_entries<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.changing_held(node, change, |before| {
            if before.kind != FileKind::Directory {
                return Err(FsError::NotDirectory);
            }
            let outcome = call();
            self.streams.on_change(&node.handle);
            outcome
        })
    }

    fn require_writable(&self) -> Result<()> {
        if self.nodes.tree().is_read_only() { Err(FsError::ReadOnly) } else { Ok(()) }
    }
}

/// Locks that nodes share: many more than there are busy workers.
const COUNT: usize = 256;

/// Locks that keep our own changes of a node apart: what a client gets of the node before and after a change holds for that
/// change alone, and a call may take two steps by name. Local processes are not kept out: each call copes with that.
struct ChangeLocks {
    locks: Box<[Mutex<()>]>,
}

/// Holds the changes of one or two nodes.
struct Held<'a> {
    _first: MutexGuard<'a, ()>,
    _second: Option<MutexGuard<'a, ()>>,
}

impl ChangeLocks {
    fn new() -> Self {
        Self { locks: (0..COUNT).map(|_| Mutex::default()).collect() }
    }

    /// Holds the changes of a node.
    fn hold(&self, node: &Node) -> Held<'_> {
        Held { _first: self.locks[place(node)].lock(), _second: None }
    }

    /// Holds those of two nodes, in an order that is the same for all.
    fn hold_two(&self, one: &Node, other: &Node) -> Held<'_> {
        let (one, other) = (place(one), place(other));
        let _first = self.locks[one.min(other)].lock();
        let _second = (one != other).then(|| self.locks[one.max(other)].lock());
        Held { _first, _second }
    }
}

fn place(node: &Node) -> usize {
    file_number(&node.handle) as usize % COUNT
}
