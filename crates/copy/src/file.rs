//! The beginning of a file's copy: whether it is needed, and where its data goes.

use std::sync::Arc;

use howdah_vfs::{Handle, Node};

use super::Event;
use super::block::Blocks;
use super::context::Context;
use super::decide::{Decision, is_copy};
use super::error::{Doing, Step};
use super::file_job::{FileJob, Opened};
use super::hard_links::HardLinks;
use super::links::Claim;
use super::look::look;
use super::metadata::Metadata;
use super::pace::Pace;
use super::partial::{PartialFiles, tidy_journal, tidy_name};
use super::tally::{add, count};
use super::tasks::{Entry, LinkPart, Settled};
use super::whole::WholeCopies;
use super::worker::Worker;

/// Begins files.
pub(super) struct Files {
    context: Arc<Context>,
    links: Arc<HardLinks>,
    decision: Decision,
    metadata: Arc<Metadata>,
    whole: WholeCopies,
    partials: PartialFiles,
    blocks: Arc<Blocks>,
}

impl Files {
    /// Of these parts of a copy.
    pub(super) fn new(
        context: Arc<Context>,
        links: Arc<HardLinks>,
        decision: Decision,
        (metadata, pace): (Arc<Metadata>, Arc<Pace>),
        blocks: Arc<Blocks>,
    ) -> Self {
        let whole = WholeCopies::new(context.clone(), pace, metadata.clone());
        let partials = PartialFiles::new(context.clone());
        Self { context, links, decision, metadata, whole, partials, blocks }
    }

    /// Copies a regular file, or says which copy it becomes another name of.
    pub(super) fn copy_file(&self, entry: Entry, node: Node, worker: &mut Worker) -> Step<Settled> {
        let has_names = node.attributes.links > 1 && self.context.options.preserve.links;
        if !has_names || entry.part != LinkPart::Unknown {
            return self.begin_file(entry, node, worker);
        }
        match self.links.claim(entry, &node) {
            Claim::Wait => Ok(Settled::Later),
            Claim::Link(entry, copy) => Ok(Settled::Linked(Box::new(entry), copy)),
            Claim::Copy(entry) => self.begin_file(entry, node, worker),
        }
    }

    fn begin_file(&self, entry: Entry, node: Node, worker: &mut Worker) -> Step<Settled> {
        if entry.tries == 0 {
            add(&self.context.tally.found_bytes, node.attributes.size);
        }
        let outcome = self.prepare(&entry, &node, worker);
        match outcome {
            Ok(Prepared::Stays(Some(copy))) => {
                self.links.on_copied(&entry, copy);
                Ok(Settled::Now)
            }
            Ok(Prepared::Stays(None)) => {
                self.links.on_not_copied(&entry);
                Ok(Settled::Now)
            }
            Ok(Prepared::Opened(opened)) => {
                let job = FileJob::new(&self.context, entry, node, *opened);
                self.blocks.work_on(&Arc::new(job), worker);
                Ok(Settled::Later)
            }
            Err(trouble) => {
                self.links.on_not_copied(&entry);
                Err(trouble)
            }
        }
    }

    fn prepare(&self, entry: &Entry, node: &Node, worker: &mut Worker) -> Step<Prepared> {
        let (there, earlier) = look(&self.context, entry, node)?;
        if let Some(there) = there
            && self.decision.keeps(entry, node, &there, worker)?
        {
            if !self.context.options.dry_run {
                self.metadata.refresh(entry, &there, node).at_destination("set the attributes of")?;
                match entry.part {
                    LinkPart::First(_) => tidy_name(&self.context, entry),
                    _ => tidy_journal(&self.context, entry, earlier),
                }
            }
            count(&self.context.tally.kept);
            add(&self.context.tally.kept_bytes, node.attributes.size);
            self.context.tell(&Event::Kept { path: &entry.path() });
            return Ok(Prepared::Stays(is_copy(&self.context, entry, node, &there).then_some(there.handle)));
        }
        if self.context.options.dry_run {
            let bytes = node.attributes.size;
            count(&self.context.tally.files);
            add(&self.context.tally.copied_bytes, bytes);
            self.context.tell(&Event::Copied { path: &entry.path(), bytes });
            // Another node stands for the copy that would be there: one that no name of a file has.
            return Ok(Prepared::Stays(Some(entry.parent.target.handle)));
        }
        if let Some(copy) = self.whole.copy(entry, (node, there.as_ref()), worker) {
            return Ok(Prepared::Stays(Some(copy)));
        }
        Ok(Prepared::Opened(Box::new(self.partials.open(entry, node, earlier)?)))
    }
}

/// What comes of looking at the destination.
enum Prepared {
    /// What is there stays, or is complete already. If it counts as a copy, other names can be made of it.
    Stays(Option<Handle>),
    Opened(Box<Opened>),
}
