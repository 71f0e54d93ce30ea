//! The end of a file's copy: all is written, and is committed, read back if that is asked for, given its attributes and its name.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_vfs::Attributes;

use super::Event;
use super::at_once::at_once;
use super::context::Context;
use super::directory_end::DirectoryEnd;
use super::error::{Cause, Doing, Step, Trouble};
use super::extras::give_extras;
use super::failure::{Failures, has_partial};
use super::file_job::{FileJob, PartialSeen, commit, record};
use super::hard_links::HardLinks;
use super::ledger::Ledger;
use super::metadata::Metadata;
use super::placement::Placement;
use super::ranges::RangeSet;
use super::tally::{add, count};

/// Completes files.
pub(super) struct Finish {
    context: Arc<Context>,
    metadata: Arc<Metadata>,
    placement: Arc<Placement>,
    links: Arc<HardLinks>,
    ends: Arc<DirectoryEnd>,
    failures: Arc<Failures>,
}

impl Finish {
    /// Of these parts of a copy.
    pub(super) fn new(
        context: Arc<Context>,
        (metadata, placement): (Arc<Metadata>, Arc<Placement>),
        (links, ends): (Arc<HardLinks>, Arc<DirectoryEnd>),
        failures: Arc<Failures>,
    ) -> Self {
        Self { context, metadata, placement, links, ends, failures }
    }

    /// Commits the last of the data, and meanwhile does what can be done of the rest: what the commit finds lost is written again,
    /// and the attributes are set again then.
    pub(super) fn commit_last(&self, job: &Arc<FileJob>) {
        let meanwhile = || match job.journal {
            Some(_) => at_once(|| self.final_attributes(job), || self.see_partial(job)).0,
            None => self.final_attributes(job),
        };
        let (committed, set) = at_once(|| commit(&self.context, job), meanwhile);
        if job.ledger.lock().is_complete() {
            *job.attributes_set.lock() = set.ok();
        }
        if let Err(trouble) = committed {
            self.failures.fail(job, trouble);
        }
    }

    /// All data is committed: verifies it if that is asked for, else completes the file. Says whether there are blocks
    /// again.
    pub(super) fn on_data_complete(&self, job: &Arc<FileJob>) -> bool {
        if self.context.options.verify && !job.verifying.load(Ordering::Relaxed) {
            return self.begin_verifying(job);
        }
        match self.complete_file(job) {
            Ok(true) => self.on_complete(job),
            // Nothing else would show that a file was cut and written again.
            Ok(false) => return self.begin_verifying(job),
            Err(trouble) => self.failures.fail_closed(job, trouble),
        }
        false
    }

    /// All blocks are read back from both sides next. Says whether that begins.
    fn begin_verifying(&self, job: &Arc<FileJob>) -> bool {
        if let Err(trouble) = record(&self.context, job) {
            self.failures.fail(job, trouble);
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
        self.placement.rename_into_place(&job.entry, &job.partial_name, "rename the partial file to")?;
        if let Some(journal) = &job.journal
            && self.context.destination.remove(directory, &journal.lock().name).is_err()
        {
            // The file is complete all the same.
            self.context.note("a journal could not be removed: the same copy, started again, removes it");
        }
        Ok(true)
    }

    /// Gives the partial file the attributes of its source. Gives those afterwards, if the answer has them.
    fn final_attributes(&self, job: &FileJob) -> howdah_vfs::Result<Option<Attributes>> {
        // Writes alone make it long enough unless it ends in a hole.
        let size = (job.sparse || job.resumed).then_some(job.size());
        let after = self.metadata.set_attributes(&job.partial, &job.node.attributes, size)?;
        give_extras(&self.context, job.entry.parent.source(), &job.node, &job.partial)?;
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
            _ => match job.partial_seen.lock().take().and_then(PartialSeen::if_fresh) {
                Some(is_ours) => Ok(is_ours),
                None => has_partial(&self.context, job).at_destination("find the partial file of"),
            },
        }
    }

    /// Looks a partial file with a journal up while its last commit is under way: where that takes no longer than a round trip, one is
    /// saved.
    fn see_partial(&self, job: &FileJob) {
        *job.partial_seen.lock() = PartialSeen::by(|| has_partial(&self.context, job));
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
        count(&self.context.tally.files);
        if self.context.options.verify {
            count(&self.context.tally.verified_files);
            add(&self.context.tally.verified_bytes, job.size());
        }
        if job.has_grown() {
            count(&self.context.tally.grown);
            self.context.tell(&Event::Grown { path: &job.entry.path(), bytes: job.size() });
        }
        self.context.tell(&Event::Copied { path: &job.entry.path(), bytes: job.size() });
        self.links.on_copied(&job.entry, job.partial.handle);
        self.ends.release(&job.entry.parent);
    }
}
