//! Entries of a directory that were fetched and not given to the kernel yet.

use std::collections::VecDeque;

use howdah_vfs::{FileKind, Node};

/// An entry.
pub struct Listed {
    pub name: Vec<u8>,
    pub file: u64,
    pub cookie: u64,
    pub kind: FileKind,
    pub node: Option<Node>,
}

/// Entries that were fetched and not given yet.
#[derive(Default)]
pub struct Fetched {
    /// Where the first of them follows.
    pub from: u64,
    pub entries: VecDeque<Listed>,
    /// Nothing follows the last of them.
    pub end: bool,
    /// What [`names_lost`](crate::nodes::KernelNode::names_lost) was when they were fetched: an entry that is older than a
    /// removal may be of a name that is gone, and the kernel would believe it.
    pub names_lost: u64,
}

impl Fetched {
    /// Takes off the first, which was given.
    pub fn given(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.from = entry.cookie;
        }
    }
}
