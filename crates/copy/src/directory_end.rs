//! The end of a directory's copy: when all in it is settled it gets its attributes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_vfs::{Attributes, FsError};

use super::context::Context;
use super::error::{Doing, Step};
use super::metadata::Metadata;
use super::stack::Stack;
use super::tally::count;
use super::task::Task;
use super::tasks::DirectoryJob;
use super::{Event, naming};

/// Completes directories.
pub(super) struct DirectoryEnd {
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    metadata: Arc<Metadata>,
}

impl DirectoryEnd {
    /// Of a copy that has not begun.
    pub(super) fn new(context: Arc<Context>, stack: Arc<Stack<Task>>, metadata: Arc<Metadata>) -> Self {
        Self { context, stack, metadata }
    }

    /// One entry of a directory is settled, or its listing; the last one completes the directory.
    pub(super) fn release(&self, directory: &Arc<DirectoryJob>) {
        let mut directory = Arc::clone(directory);
        while directory.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            let replacement = directory.replacement.lock().take();
            if let Some(entry) = replacement {
                return self.stack.push(Task::Entry(entry));
            }
            if let Err(trouble) = self.complete(&directory) {
                self.context.report(&directory.own_error(trouble));
            }
            match &directory.parent {
                Some(parent) => directory = Arc::clone(parent),
                None => return,
            }
        }
    }

    /// Gives a directory its attributes, after all that would change its times again.
    fn complete(&self, directory: &DirectoryJob) -> Step<()> {
        let Some(node) = &directory.node else { return Ok(()) };
        let set = match self.context.options.dry_run {
            true => Ok(()),
            false => self.finish_directory(directory, &node.attributes)?,
        };
        match set {
            // Another user's directory that was there before, as /tmp: it may be filled and not be changed.
            Err(FsError::NotPermitted | FsError::AccessDenied) if !directory.fresh => {
                self.context.note(
                    "attributes of directories that were there and belong to others are left as they are",
                );
            }
            outcome => outcome.at_destination("set the attributes of")?,
        }
        count(&self.context.tally.directories);
        if directory.fresh
            && let Some(parent) = &directory.parent
        {
            self.context.tell(&Event::Made { path: &parent.path_of(&directory.name) });
        }
        Ok(())
    }

    /// Takes the mark away, by which the same command finds its directory, and sets the attributes, as far as the destination lets.
    fn finish_directory(&self, directory: &DirectoryJob, source: &Attributes) -> Step<Result<(), FsError>> {
        if directory.marked && !directory.item.has_left_files.load(Ordering::Relaxed) {
            let marker = naming::marker(directory.item.id);
            let removed = self.context.destination.remove(&directory.target.handle, &marker);
            removed.at_destination("remove the mark of")?;
        }
        Ok(self.metadata.set_directory_attributes(directory, source))
    }
}
