//! Small files that the destination makes whole by one call: in place of creating, writing, setting attributes and renaming.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use howdah_vfs::{Attributes, FileKind, Handle, Node, WHOLE_FILE_MAX};

use super::context::Context;
use super::file_job::is_sparse;
use super::metadata::Metadata;
use super::pace::Pace;
use super::side::{in_memory, reclaim};
use super::tally::{add, count};
use super::tasks::Entry;
use super::worker::Worker;
use super::zeros::data_runs;
use super::{Event, naming};

/// So many refusals in a row say that the destination refuses something that all files need.
const REFUSALS_MAX: u32 = 4;

/// Makes files whole.
pub(super) struct WholeCopies {
    context: Arc<Context>,
    pace: Arc<Pace>,
    metadata: Arc<Metadata>,
    /// Refusals in a row.
    refusals: AtomicU32,
}

impl WholeCopies {
    /// Nothing was refused yet.
    pub(super) fn new(context: Arc<Context>, pace: Arc<Pace>, metadata: Arc<Metadata>) -> Self {
        Self { context, pace, metadata, refusals: AtomicU32::new(0) }
    }

    /// Copies a file if one call does it. If not, whatever the reason, the usual way copies it, or says what is wrong.
    pub(super) fn copy(
        &self,
        entry: &Entry,
        (node, there): (&Node, Option<&Node>),
        worker: &mut Worker,
    ) -> Option<Handle> {
        if !self.may(entry, node, there) {
            return None;
        }
        if !self.pace.wait(node.attributes.size) {
            return None;
        }
        let Some(bytes) = self.read(entry, node, &mut worker.buffer) else {
            // The usual way waits for them.
            self.pace.give_back(node.attributes.size);
            return None;
        };
        let copy = self.put(entry, node, &bytes);
        reclaim(bytes, &mut worker.buffer);
        let copy = copy?;
        count(&self.context.tally.files);
        add(&self.context.tally.copied_bytes, node.attributes.size);
        self.context.tell(&Event::Copied { path: &entry.path(), bytes: node.attributes.size });
        Some(copy)
    }

    fn may(&self, entry: &Entry, node: &Node, there: Option<&Node>) -> bool {
        let (options, destination) = (&self.context.options, &self.context.destination);
        let most = (self.context.block as u64).min(WHOLE_FILE_MAX as u64);
        let is_small = node.attributes.size <= most && node.attributes.size < options.tuning.journal_from;
        // A directory must make way first.
        let is_free = there.is_none_or(|there| there.attributes.kind != FileKind::Directory);
        is_small
            && is_free
            && entry.tries == 0
            && !(options.verify || options.preserve.acls || options.preserve.xattrs)
            && self.refusals.load(Ordering::Relaxed) < REFUSALS_MAX
            && destination.file_system.whole_files().is_some()
    }

    /// All of a file, as it was when it was listed. Nothing if it has holes to keep.
    fn read(&self, entry: &Entry, node: &Node, buffer: &mut Vec<u8>) -> Option<Bytes> {
        let (source, size) = (entry.parent.source(), node.attributes.size as usize);
        let mut bytes = Bytes::new();
        if size > 0 {
            let read = source.read(&node.handle, 0, size, buffer).ok()?;
            bytes = in_memory(read.content, buffer).ok()?;
        }
        let is_whole = bytes.len() >= size;
        bytes.truncate(size);
        let is_dense = || data_runs(&bytes).first() == Some(&(0..size));
        let has_holes = size > 0 && is_sparse(&self.context, &node.attributes) && !is_dense();
        // What a read returns may be from before its data: only a later look shows that nothing changed.
        let is_same = is_whole && !has_holes && {
            let now = source.attributes(&node.handle).ok();
            let facts = |node: &Attributes| (node.size, node.modified);
            now.is_some_and(|now| facts(&now) == facts(&node.attributes))
        };
        if !is_same {
            reclaim(bytes, buffer);
            return None;
        }
        Some(bytes)
    }

    fn put(&self, entry: &Entry, node: &Node, data: &Bytes) -> Option<Handle> {
        let new = self.metadata.of_new_file(&node.attributes)?;
        let partial = naming::partial(&entry.name, entry.parent.item.id);
        let directory = &entry.parent.target.handle;
        let put = self.context.destination.put(
            directory,
            (&partial, &entry.name),
            (data, &new),
            self.context.durability(),
        );
        match put {
            Ok(copy) => {
                self.refusals.store(0, Ordering::Relaxed);
                Some(copy)
            }
            Err(_) => {
                self.refusals.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }
}
