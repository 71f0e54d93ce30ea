//! What workers do.

use std::sync::Arc;

use howdah_vfs::Handle;

use super::Item;
use super::file_job::FileJob;
use super::stack::Weight;
use super::tasks::{DirectoryJob, Entry};

/// A longer file is not small: others help with its blocks.
const SMALL_FILE_MAX: u64 = 1 << 20;

/// Something for a worker to do.
pub(super) enum Task {
    /// Begin with one of several that were named.
    Begin(Box<Item>),
    /// Copy what has this name.
    Entry(Entry),
    /// Give a copy one more name.
    Link(Entry, Handle),
    /// Read on in a directory.
    List(Arc<DirectoryJob>),
    /// Help with the blocks of a file.
    Blocks(Arc<FileJob>),
}

impl Weight for Task {
    /// Files of many blocks are: each worker may have a block in memory.
    fn is_heavy(&self) -> bool {
        match self {
            Self::Blocks(_) => true,
            Self::Entry(entry) => entry.node.is_some_and(|node| node.attributes.size > SMALL_FILE_MAX),
            Self::Begin(_) | Self::Link(..) | Self::List(_) => false,
        }
    }
}

impl Task {
    /// Whether what it copies goes where the writes of a file wait for each other.
    pub(super) fn has_one_writer(&self) -> bool {
        let item = match self {
            Self::Entry(entry) | Self::Link(entry, _) => &entry.parent.item,
            Self::Begin(_) => return false,
            Self::List(directory) => &directory.item,
            Self::Blocks(job) => &job.entry.parent.item,
        };
        item.one_writer
    }
}
