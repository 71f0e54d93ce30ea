//! What is copied, and what it becomes.

use std::collections::HashSet;
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
    pub target: CopyTarget,
    /// Its path, as messages show it.
    pub path: Vec<u8>,
    /// The path of the target's directory, as messages show it.
    pub directory_path: Vec<u8>,
    /// Distinguishes copies from different sources: see [`super::source_id`].
    pub id: u64,
}

/// What a source becomes.
#[derive(Debug, Clone)]
pub enum CopyTarget {
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

/// What is copied at once. Items that come to one place are copied one after the other, in the order in which they were named: else two files of
/// one name would take turns.
pub(super) fn rounds(items: Vec<Item>) -> Vec<Vec<Item>> {
    match meet(&items) {
        true => items.into_iter().map(|item| vec![item]).collect(),
        false => vec![items],
    }
}

/// Whether two items may become one, or parts of one.
pub fn meet(items: &[Item]) -> bool {
    let mut taken = HashSet::new();
    items.len() > 1
        && items.iter().any(|item| match &item.target {
            CopyTarget::Entry { directory, name } => !taken.insert((*directory, &name[..])),
            CopyTarget::Directory(_) => true,
        })
}
