//! The end of a file's copy: committed, verified, given its attributes and its name; or left so that it can go on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use howdah_vfs::{Attributes, FsError, Node};

use super::Event;
use super::engine::Copier;
use super::error::{Cause, CopyError, Doing, LeftFiles, On, Step, Trouble, is_full};
use super::file_job::{FileJob, MOST_TRIES, PartialSeen};
use super::ledger::{Batch, Ledger};
use super::ranges::RangeSet;
use super::tally::{add, count};
use super::task::Task;
use super::tasks::Entry;

/// How often a file that is gone is looked up again: something else may have its name by now.
pub(super) const MOST_LOOKS: u32 = 4;

impl Copier {
    /// Whether so much, or so long, was written without a commit that an interruption would hurt.
    pub(super) fn wants_commit(&self, job: &FileJob) -> bool {
        if job.journal.is_none() || job.verifying.load(Ordering::Relaxed) {
            return false;
        }
        let tuning = &self.options.tuning;
        let (least, most) = tuning.commit_bytes;
        let (unsettled, has_more) = {
            let ledger = job.ledger.lock();
            (ledger.unsettled(), ledger.has_more())
        };
        let worth = (job.committed_here.load(Ordering::Relaxed) / 4).clamp(least, most);
        // Where only the last blocks are on their way, the last commit will cover all.
        (has_more && unsettled >= worth)
            || (unsettled > 0 && job.last_commit.lock().elapsed() >= tuning.commit_interval)
    }

    /// Makes durable what was written, and records it. What the server lost meanwhile is put back to be sent again.
    pub(super) fn commit(&self, job: &FileJob) -> Step<()> {
        let Some(batch) = job.ledger.lock().begin_commit() else { return Ok(()) };
        *job.last_commit.lock() = Instant::now();
        let committed = self.commit_batch(job, batch).and_then(|()| {
            // What is complete gets its name next, and needs no record.
            let is_complete = job.ledger.lock().is_complete();
            if is_complete { Ok(()) } else { self.record(job) }
        });
        let mut ledger = job.ledger.lock();
        if committed.is_err() {
            // Nothing is known of what it was to cover: this copy is over.
            ledger.close();
        }
        ledger.commit_over();
        committed
    }

    fn commit_batch(&self, job: &FileJob, batch: Batch) -> Step<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let verifier = self.destination.commit(&job.partial.handle).at_destination("commit")?;
        let lost = job.ledger.lock().end_commit(batch, verifier);
        if lost > 0 {
            add(&self.tally.resent_bytes, lost);
            self.tell(&Event::SentAgain { path: &job.entry.path(), bytes: lost });
        }
        Ok(())
    }

    fn record(&self, job: &FileJob) -> Step<()> {
        let Some(journal) = &job.journal else { return Ok(()) };
        let mut journal = journal.lock();
        let news = job.ledger.lock().take_news();
        match news.is_empty() {
            true => Ok(()),
            false => journal.record(&self.destination, &news).at_destination("write the journal of"),
        }
    }

    /// All data is committed: verifies it if that is asked for, else completes the file. Says whether there are blocks
    /// again.
    pub(super) fn on_data_complete(&self, job: &Arc<FileJob>) -> bool {
        if self.options.verify && !job.verifying.load(Ordering::Relaxed) {
            return self.begin_verifying(job);
        }
        match self.complete_file(job) {
            Ok(true) => self.on_complete(job),
            // Nothing else would show that a file was cut and written again.
            Ok(false) => return self.begin_verifying(job),
            Err(trouble) => self.fail_closed(job, trouble),
        }
        false
    }

    /// All blocks are read back from both sides next. Says whether that begins.
    fn begin_verifying(&self, job: &Arc<FileJob>) -> bool {
        if let Err(trouble) = self.record(job) {
            self.fail(job, trouble);
            return false;
        }
        job.verifying.store(true, Ordering::Relaxed);
        *job.ledger.lock() = Ledger::new(job.size(), RangeSet::default());
        true
    }

    /// Gives the file its attributes and its name; says whether that is done. If the file grew, its data is read back first.
    fn complete_file(&self, job: &FileJob) -> Step<bool> {
        self.look_again(job)?;
        if job.has_grown() && !job.verifying.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let directory = &job.entry.parent.target.handle;
        if !self.finish_attributes(job)? {
            return Err(Trouble::destination("complete", Cause::TakenOver));
        }
        self.rename_into_place(&job.entry, &job.partial_name, "rename the partial file to")?;
        if let Some(journal) = &job.journal
            && self.destination.remove(directory, &journal.lock().name).is_err()
        {
            // The file is complete all the same.
            self.note("a journal could not be removed: the same copy, started again, removes it");
        }
        Ok(true)
    }

    /// Gives the partial file the attributes of its source. Gives those afterwards, if the answer has them.
    pub(super) fn final_attributes(&self, job: &FileJob) -> howdah_vfs::Result<Option<Attributes>> {
        // Writes alone make it long enough unless it ends in a hole.
        let size = (job.sparse || job.resumed).then_some(job.size());
        let after = self.set_attributes(&job.partial, &job.node.attributes, size)?;
        self.give_extras(job.entry.parent.source(), &job.node, &job.partial)?;
        Ok(after)
    }

    /// Gives the partial file its attributes, and says whether its name is still its own. The same copy, started a second time, may
    /// have begun a file of its own under this name: then ours lost its only name. A file with a journal may have been completed by
    /// the other copy, so its name is looked up. For small files far away the look-up would be a fifth of the time.
    fn finish_attributes(&self, job: &FileJob) -> Step<bool> {
        let set = job.attributes_set.lock().take();
        let set = set.map_or_else(|| self.final_attributes(job), Ok);
        match set.at_destination("set the attributes of")? {
            Some(after) if after.links == 1 && job.journal.is_none() => Ok(true),
            // The later it is asked, the shorter the time until the name is changed.
            _ => match job.partial_seen.lock().take().filter(PartialSeen::is_fresh) {
                Some(seen) => Ok(seen.is_ours),
                None => self.has_partial(job).at_destination("find the partial file of"),
            },
        }
    }

    /// Looks a partial file with a journal up while its last commit is under way: where that takes no longer than a round trip, one is
    /// saved.
    pub(super) fn see_partial(&self, job: &FileJob) {
        let asked = Instant::now();
        let is_ours = self.has_partial(job).ok();
        let seen = is_ours.map(|is_ours| PartialSeen { asked, took: asked.elapsed(), is_ours });
        *job.partial_seen.lock() = seen;
    }

    /// What a read returns of the file may be from before its data: from a local file always, and from a server that sends
    /// local files as they lie. So a file of one block is looked at again, too: here that is an `fstat`, at a server a call
    /// that other files' calls overlap, and more workers are let in where a path is long. Of an empty file nothing was read;
    /// but what was empty when it was listed, perhaps long ago, need not be so still.
    fn look_again(&self, job: &FileJob) -> Step<()> {
        let now = job.entry.parent.source().attributes(&job.node.handle);
        match job.is_still_copied(&now.at_source("check")?) {
            false => Err(Trouble::source("complete", Cause::Changed)),
            true => Ok(()),
        }
    }

    fn on_complete(&self, job: &FileJob) {
        count(&self.tally.files);
        if self.options.verify {
            count(&self.tally.verified_files);
            add(&self.tally.verified_bytes, job.size());
        }
        if job.has_grown() {
            count(&self.tally.grown);
            self.tell(&Event::Grown { path: &job.entry.path(), bytes: job.size() });
        }
        self.tell(&Event::Copied { path: &job.entry.path(), bytes: job.size() });
        self.on_copied(&job.entry, job.partial.handle);
        self.release(&job.entry.parent);
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

    fn fail_closed(&self, job: &FileJob, trouble: Trouble) {
        let trouble = self.explained(job, trouble);
        if is_full(trouble.cause) {
            // What was written before may be safe: then the next run need not send it.
            let _ = self.commit(job);
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
        let _ = self.record(job);
        journal.lock().has_record()
    }

    fn give_up(&self, job: &FileJob, trouble: Trouble, left: Option<LeftFiles>) {
        self.report(&CopyError { left, ..job.entry.error(trouble) });
        self.on_not_copied(&job.entry);
        self.release(&job.entry.parent);
    }

    /// What a trouble means for this file. A partial file that is gone while its name is not was replaced by another copy.
    fn explained(&self, job: &FileJob, trouble: Trouble) -> Trouble {
        // It did not only grow.
        if job.has_grown() && !self.options.verify && matches!(trouble.cause, Cause::Differs(_)) {
            return Trouble::source("complete", Cause::Changed);
        }
        let is_gone = trouble.on == On::Destination && trouble.cause == Cause::Refused(FsError::Stale);
        let directory = &job.entry.parent.target.handle;
        let is_there = || matches!(self.destination.find(directory, &job.partial_name), Ok(Some(_)));
        if is_gone && !self.has_partial(job).unwrap_or(true) && is_there() {
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

    /// Whether the partial name is still that of what we write.
    fn has_partial(&self, job: &FileJob) -> howdah_vfs::Result<bool> {
        let there = self.destination.find(&job.entry.parent.target.handle, &job.partial_name)?;
        Ok(there.is_some_and(|there| there.attributes.file == job.partial.attributes.file))
    }

    /// Removes what there is of a copy, unless it is another's by now. Gives what cannot be removed.
    fn discard(&self, job: &FileJob) -> Option<LeftFiles> {
        let directory = &job.entry.parent.target.handle;
        let mut names = names(job);
        match self.has_partial(job) {
            Ok(true) => names.retain(|name| self.destination.remove(directory, name).is_err()),
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
        if let Err(trouble) = self.commit(job) {
            self.report(&CopyError { left: Some(leave(job)), ..job.entry.error(trouble) });
        }
    }
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
