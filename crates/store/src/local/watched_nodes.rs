//! The nodes whose changes by others are to be noticed. Knows no system call.

use std::collections::HashMap;

use howdah_vfs::{Handle, WatchedNode};

use super::change_events::NodeIdentity;

/// The nodes.
#[derive(Debug)]
pub(super) struct WatchedNodes {
    nodes: HashMap<Handle, Watched>,
    by_identity: HashMap<NodeIdentity, Handle>,
    most: usize,
}

#[derive(Debug)]
struct Watched {
    identity: NodeIdentity,
    has_children: bool,
    /// Whether it was asked for since the last time that nodes were dropped: then it stays.
    is_new: bool,
}

/// What is to be done for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watching {
    /// It is watched already.
    Already,
    /// The kernel must be asked.
    New,
    /// Too many are watched.
    Full,
}

impl WatchedNodes {
    /// None yet, and never more than so many.
    pub(super) fn new(most: usize) -> Self {
        Self { nodes: HashMap::new(), by_identity: HashMap::new(), most }
    }

    /// Adds a node.
    pub(super) fn add(
        &mut self,
        watched: WatchedNode<'_>,
        identity: impl FnOnce() -> NodeIdentity,
    ) -> Watching {
        let has_children = watched.has_children;
        if let Some(known) = self.nodes.get_mut(watched.node) {
            known.is_new = true;
            let is_enough = known.has_children || !has_children;
            known.has_children |= has_children;
            return if is_enough { Watching::Already } else { Watching::New };
        }
        if self.nodes.len() >= self.most {
            return Watching::Full;
        }
        let identity = identity();
        self.by_identity.insert(identity.clone(), *watched.node);
        self.nodes.insert(*watched.node, Watched { identity, has_children, is_new: true });
        Watching::New
    }

    /// Drops a node.
    pub(super) fn remove(&mut self, node: &Handle) {
        if let Some(watched) = self.nodes.remove(node) {
            self.by_identity.remove(&watched.identity);
        }
    }

    /// The node that the kernel knows by this, if it is watched.
    pub(super) fn find(&self, identity: &NodeIdentity) -> Option<Handle> {
        self.by_identity.get(identity).copied()
    }

    /// Whether a node is watched.
    pub(super) fn has(&self, node: &Handle) -> bool {
        self.nodes.contains_key(node)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Nodes that nobody asked for since the last time.
    pub(super) fn take_old(&mut self) -> Vec<Handle> {
        let mut old = Vec::new();
        for (node, watched) in &mut self.nodes {
            if !std::mem::take(&mut watched.is_new) {
                old.push(*node);
            }
        }
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(number: u8) -> Handle {
        Handle::new(&[number]).expect("short")
    }

    fn add(nodes: &mut WatchedNodes, number: u8, has_children: bool) -> Watching {
        let identity = || NodeIdentity::of(1, &[number]);
        nodes.add(WatchedNode { node: &handle(number), has_children }, identity)
    }

    #[test]
    fn no_more_are_watched_than_there_is_room_for() {
        let mut nodes = WatchedNodes::new(2);
        assert_eq!(
            [1, 2, 3].map(|number| add(&mut nodes, number, false)),
            [Watching::New, Watching::New, Watching::Full]
        );
        assert_eq!(nodes.find(&NodeIdentity::of(1, &[3])), None);
        nodes.remove(&handle(1));
        assert_eq!((nodes.find(&NodeIdentity::of(1, &[1])), nodes.count()), (None, 1));
        assert_eq!(add(&mut nodes, 3, false), Watching::New);
    }

    #[test]
    fn the_kernel_is_asked_again_only_for_more() {
        let mut nodes = WatchedNodes::new(2);
        assert_eq!(
            [false, false, true, true, false].map(|has| add(&mut nodes, 1, has)),
            [Watching::New, Watching::Already, Watching::New, Watching::Already, Watching::Already]
        );
    }

    #[test]
    fn what_was_asked_for_lately_is_not_old() {
        let mut nodes = WatchedNodes::new(2);
        add(&mut nodes, 1, false);
        assert_eq!(nodes.take_old(), []);
        assert_eq!(nodes.take_old(), [handle(1)]);
        add(&mut nodes, 1, false);
        assert_eq!(nodes.take_old(), []);
    }
}
