//! A file whose copy cannot be completed: given up, started again, or left for the next run.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_vfs::{FsError, Node};

use super::context::Context;
use super::directory_end::DirectoryEnd;
use super::error::{Cause, CopyError, Doing, LeftFiles, On, Trouble, is_full};
use super::file_job::{FileJob, MOST_LOOKS, MOST_TRIES, commit, record};
use super::hard_links::HardLinks;
use super::stack::Stack;
use super::task::Task;
use super::tasks::Entry;

/// Settles files that are not copied now.
pub(super) struct Failures {
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    links: Arc<HardLinks>,
    ends: Arc<DirectoryEnd>,
}

impl Failures {
    /// A file that is started again goes on the stack.
    pub(super) fn new(
        context: Arc<Context>,
        stack: Arc<Stack<Task>>,
        (links, ends): (Arc<HardLinks>, Arc<DirectoryEnd>),
    ) -> Self {
        Self { context, stack, links, ends }
    }

    /// Gives up a file. The first worker that finds a reason reports it; what others still have on its way comes to nothing.
    pub(super) fn fail(&self, job: &Arc<FileJob>, trouble: Trouble) {
        // A commit that failed closed the ledger itself.
        if job.failed.swap(true, Ordering::Relaxed) {
            return;
        }
        job.ledger.lock().close();
        self.fail_closed(job, trouble);
    }

    pub(super) fn fail_closed(&self, job: &FileJob, trouble: Trouble) {
        let trouble = self.explained(job, trouble);
        if is_full(trouble.cause) {
            // What was written before may be safe: then the next run need not send it.
            let _ = commit(&self.context, job);
        }
        let has_its_name = if trouble.is_gone() { self.has_its_name(job) } else { None };
        let tries = match trouble.cause {
            Cause::Changed => MOST_TRIES,
            _ if has_its_name.is_some() => MOST_LOOKS,
            _ => 0,
        };
        let begins_anew = job.entry.tries + 1 < tries;
        let left = match trouble.cause {
            // What is there is the other copy's.
            Cause::TakenOver => None,
            Cause::Changed | Cause::Differs(_) => self.discard(job),
            _ if has_its_name == Some(false) => self.discard(job),
            // The next try, if there is one, goes on with it.
            _ if self.is_resumable(job) => (!begins_anew).then(|| leave(job)),
            _ => self.discard(job),
        };
        match begins_anew {
            true => self.begin_anew(job),
            false => self.give_up(job, trouble, left),
        }
    }

    /// Whether the name of a file is still its own in the source, as far as that can be looked up. What was named is not looked up.
    fn has_its_name(&self, job: &FileJob) -> Option<bool> {
        let number = |node: &Node| (node.attributes.file_system, node.attributes.file);
        let Entry { parent, name, .. } = &job.entry;
        let found = parent.source().find(&parent.node?.handle, name).ok()?;
        Some(found.is_some_and(|found| number(&found) == number(&job.node)))
    }

    /// Whether the next run can resume. Records what is committed but not in the journal yet; a commit under way records its own.
    fn is_resumable(&self, job: &FileJob) -> bool {
        let Some(journal) = &job.journal else { return false };
        if job.ledger.lock().is_committing() {
            return true;
        }
        let _ = record(&self.context, job);
        journal.lock().has_record()
    }

    fn give_up(&self, job: &FileJob, trouble: Trouble, left: Option<LeftFiles>) {
        self.context.report(&CopyError { left, ..job.entry.error(trouble) });
        self.links.on_not_copied(&job.entry);
        self.ends.release(&job.entry.parent);
    }

    /// What a trouble means for this file. A partial file that is gone while its name is not was replaced by another copy.
    fn explained(&self, job: &FileJob, trouble: Trouble) -> Trouble {
        // It did not only grow.
        if job.has_grown() && !self.context.options.verify && matches!(trouble.cause, Cause::Differs(_)) {
            return Trouble::source("complete", Cause::Changed);
        }
        let is_gone = trouble.on == On::Destination && trouble.cause == Cause::Refused(FsError::Stale);
        let directory = &job.entry.parent.target.handle;
        let is_there = || matches!(self.context.destination.find(directory, &job.partial_name), Ok(Some(_)));
        if is_gone && !has_partial(&self.context, job).unwrap_or(true) && is_there() {
            return Trouble { cause: Cause::TakenOver, ..trouble };
        }
        trouble
    }

    /// Once more, from what it is now. What cannot be looked at is looked up again below the top; at the top it has no name.
    fn begin_anew(&self, job: &FileJob) {
        let now = job.entry.parent.source().attributes(&job.node.handle).at_source("check");
        let node = match now {
            Ok(attributes) => Some(Node { handle: job.node.handle, attributes }),
            Err(_) if job.entry.parent.node.is_some() => None,
            Err(trouble) => return self.give_up(job, trouble, None),
        };
        let tries = job.entry.tries + 1;
        self.stack.push(Task::Entry(Entry { node, tries, looked: None, ..job.entry.clone() }));
    }

    /// Removes what there is of a copy, unless it is another's by now. Gives what cannot be removed.
    fn discard(&self, job: &FileJob) -> Option<LeftFiles> {
        let directory = &job.entry.parent.target.handle;
        let mut names = names(job);
        match has_partial(&self.context, job) {
            Ok(true) => names.retain(|name| self.context.destination.remove(directory, name).is_err()),
            Ok(false) => return None,
            // It may be another's: nothing is removed.
            Err(_) => {}
        }
        (!names.is_empty()).then(|| LeftFiles { paths: paths(job, &names), is_resumable: false })
    }

    /// Leaves a file because the copy is to stop. The last worker to leave commits what is written.
    pub(super) fn suspend(&self, job: &FileJob) {
        {
            let mut ledger = job.ledger.lock();
            if ledger.is_busy() || !ledger.close() {
                return;
            }
        }
        if job.journal.is_none() {
            self.discard(job);
            return;
        }
        if job.verifying.load(Ordering::Relaxed) {
            return;
        }
        if let Err(trouble) = commit(&self.context, job) {
            self.context.report(&CopyError { left: Some(leave(job)), ..job.entry.error(trouble) });
        }
    }
}

/// Whether the partial name is still that of what we write.
pub(super) fn has_partial(context: &Context, job: &FileJob) -> howdah_vfs::Result<bool> {
    let there = context.destination.find(&job.entry.parent.target.handle, &job.partial_name)?;
    Ok(there.is_some_and(|there| there.attributes.file == job.partial.attributes.file))
}

/// Leaves what there is of a copy for the next run.
fn leave(job: &FileJob) -> LeftFiles {
    job.entry.parent.item.has_left_files.store(true, Ordering::Relaxed);
    LeftFiles { paths: paths(job, &names(job)), is_resumable: true }
}

/// The names of an unfinished copy: the journal first, for it never stands without its partial file.
fn names(job: &FileJob) -> Vec<Vec<u8>> {
    let journal = job.journal.as_ref().map(|journal| journal.lock().name.clone());
    journal.into_iter().chain([job.partial_name.clone()]).collect()
}

fn paths(job: &FileJob, names: &[Vec<u8>]) -> Vec<Vec<u8>> {
    names.iter().map(|name| job.entry.parent.target_path_of(name)).collect()
}
