//! The data of a file, block by block: each worker that comes by takes the next one, until none is left.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use howdah_vfs::{Attributes, Stability};

use super::engine::{Copier, Worker};
use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::FileJob;
use super::ledger::{How, Next};
use super::side::reclaim;
use super::tally::add;
use super::tasks::Task;
use super::zeros::data_runs;

/// How a block went.
enum Went {
    Well,
    /// It was given back, because the copy is to stop.
    Stopped,
}

impl Copier {
    /// Works on a file until nothing of it is left to take.
    pub(super) fn work_on(&self, job: &Arc<FileJob>, worker: &mut Worker) {
        let mut called_others = false;
        loop {
            if self.stop.is_set() {
                return self.suspend(job);
            }
            let (block, has_more) = {
                let mut ledger = job.ledger.lock();
                (ledger.take(self.block as u64), ledger.has_more())
            };
            if has_more && !called_others {
                called_others = true;
                self.stack.push(Task::Blocks(Arc::clone(job)));
            }
            let Some(block) = block else {
                match self.go_on(job) {
                    true => continue,
                    false => return,
                }
            };
            match self.copy_block(job, block.clone(), worker).and_then(|went| self.commit_at_times(job, went))
            {
                Ok(()) => {}
                Err(trouble) => self.fail(job, trouble),
            }
            // Fewer workers are wanted: those that stay find the file on the stack.
            if !self.stack.allows(worker.number) && job.ledger.lock().has_more() {
                self.stack.push(Task::Blocks(Arc::clone(job)));
                return;
            }
        }
    }

    /// No block is left: commits, or completes the file, or leaves that to others. Says whether blocks may be there
    /// again.
    fn go_on(&self, job: &Arc<FileJob>) -> bool {
        let next = job.ledger.lock().next();
        match next {
            Next::Nothing => false,
            Next::Commit => {
                if let Err(trouble) = self.commit(job) {
                    self.fail(job, trouble);
                }
                true
            }
            Next::Done => self.on_data_complete(job),
        }
    }

    fn commit_at_times(&self, job: &FileJob, went: Went) -> Step<()> {
        match went {
            Went::Well if self.wants_commit(job) => self.commit(job),
            _ => Ok(()),
        }
    }

    fn copy_block(&self, job: &FileJob, block: Range<u64>, worker: &mut Worker) -> Step<Went> {
        let length = block.end - block.start;
        let verifying = job.verifying.load(Ordering::Relaxed);
        if !self.pace(length) {
            job.ledger.lock().put_back(block);
            return Ok(Went::Stopped);
        }
        let parts = match verifying {
            true => {
                self.verify_block(job, block.clone(), worker).map(|()| vec![(block.clone(), How::Durably)])
            }
            false => self.transfer(job, &block, worker),
        };
        match parts {
            Ok(parts) => {
                if !verifying {
                    let written: u64 = parts.iter().map(|(part, _)| part.end - part.start).sum();
                    add(&self.tally.copied_bytes, length);
                    add(&self.tally.hole_bytes, length - written);
                    job.committed_here.fetch_add(length, Ordering::Relaxed);
                }
                job.ledger.lock().written(block, parts);
                Ok(Went::Well)
            }
            Err(trouble) => {
                job.ledger.lock().put_back(block);
                Err(trouble)
            }
        }
    }

    /// Reads a block and writes what of it is data.
    fn transfer(
        &self,
        job: &FileJob,
        block: &Range<u64>,
        worker: &mut Worker,
    ) -> Step<Vec<(Range<u64>, How)>> {
        let length = (block.end - block.start) as usize;
        let source = job.entry.parent.source();
        let read = source.read(&job.node.handle, block.start, length, &mut worker.buffer);
        let (outcome, bytes) = read.at_source("reading")?;
        if bytes.len() < length || is_changed(&job.node.attributes, &outcome.attributes) {
            return Err(Trouble::source("reading", Cause::Changed));
        }
        let parts = self.write_block(job, block.start, &bytes.slice(..length));
        reclaim(bytes, &mut worker.buffer);
        parts
    }

    fn write_block(&self, job: &FileJob, at: u64, bytes: &Bytes) -> Step<Vec<(Range<u64>, How)>> {
        let mut parts = Vec::with_capacity(1);
        match job.sparse {
            true => {
                for run in data_runs(bytes) {
                    self.write_part(job, at + run.start as u64, bytes.slice(run), &mut parts)?;
                }
            }
            false => self.write_part(job, at, bytes.clone(), &mut parts)?,
        }
        Ok(parts)
    }

    fn write_part(
        &self,
        job: &FileJob,
        at: u64,
        data: Bytes,
        parts: &mut Vec<(Range<u64>, How)>,
    ) -> Step<()> {
        // A file of one block is written stably: that spares the COMMIT.
        let stably = job.size() <= self.block as u64 || job.ledger.lock().wants_stable_writes();
        let asked = if stably && self.options.sync { Stability::FileSync } else { Stability::Unstable };
        let written = self.destination.write(&job.partial.handle, at, data, asked, |at, written| {
            let how = match written.stability {
                Stability::Unstable if self.options.sync => How::Unstably(written.verifier),
                _ => How::Durably,
            };
            parts.push((at..at + written.count as u64, how));
        });
        written.at_destination("writing")
    }
}

/// Whether the data of the source is not what it was.
pub(super) fn is_changed(before: &Attributes, now: &Attributes) -> bool {
    (before.size, before.modified) != (now.size, now.modified)
}
