//! Changes that other programs of this host make in a file system, past whoever serves it.

use std::sync::Arc;

use crate::{Handle, Result};

/// What other programs changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalChange {
    /// This node, or one that is in it where [`WatchedNode::has_children`] was asked for.
    Of(Handle),
    /// Any of the nodes that are watched: there were too many changes to tell each.
    Any,
}

/// A node that is to be watched.
#[derive(Debug, Clone, Copy)]
pub struct WatchedNode<'n> {
    /// The node.
    pub node: &'n Handle,
    /// Whether data and attributes of the files in it are watched, too. Only by their names in this directory.
    pub has_children: bool,
}

/// Learns of changes by others, on a thread of the file system.
pub trait LocalChangeObserver: Send + Sync {
    /// Others changed something.
    fn on_local_change(&self, change: LocalChange);

    /// Which of these nodes are still to be watched.
    fn keep_watched(&self, nodes: &[Handle]) -> Vec<bool>;
}

/// Notices what other programs of this host change, by [`FileSystem::local_changes`](crate::FileSystem::local_changes). Changes made
/// through the file system itself are not told.
pub trait LocalChanges: Send + Sync {
    /// Watches a node from now on. All nodes have one observer, the latest.
    ///
    /// # Errors
    /// The node cannot be watched, or too many are.
    fn watch(&self, watched: WatchedNode<'_>, observer: Arc<dyn LocalChangeObserver>) -> Result<()>;

    /// Whether a node is watched.
    fn is_watched(&self, node: &Handle) -> bool;

    /// Watches no longer what the observer does not want to keep.
    fn tidy(&self);

    /// How many nodes are watched.
    fn count(&self) -> usize;
}
