//! What is copied, and what it becomes.

use std::sync::Arc;

use howdah_vfs::{Handle, Node};

use super::Side;

/// One source with its destination.
pub struct Item {
    /// Where it is from.
    pub source: Arc<Side>,
    /// The node to copy.
    pub node: Node,
    /// The directory that it becomes an entry of, and its name there; or the directory that it becomes itself.
    pub target: Target,
    /// How its path is told to people.
    pub path: Vec<u8>,
    /// Distinguishes copies from different sources: see [`super::source_id`].
    pub id: u64,
}

/// What a source becomes.
#[derive(Debug, Clone)]
pub enum Target {
    /// An entry of a directory.
    Entry {
        /// The directory.
        directory: Handle,
        /// The name.
        name: Vec<u8>,
    },
    /// An existing directory, into which the content of the source goes.
    Directory(Node),
}
