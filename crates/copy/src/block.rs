//! The data of a file, block by block: each worker that comes by takes the next one, until none is left.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::at_once::at_once;
use super::engine::{Copier, Worker};
use super::error::Step;
use super::file_job::FileJob;
use super::ledger::{How, Next};
use super::tally::add;
use super::task::Task;

impl Copier {
    /// Works on a file until nothing of it is left to take.
    pub(super) fn work_on(&self, job: &Arc<FileJob>, worker: &mut Worker) {
        let mut called_others = false;
        loop {
            if self.stop.is_set() {
                return self.suspend(job);
            }
            let most = self.block_of(self.server_way(job));
            let (block, has_more) = {
                let mut ledger = job.ledger.lock();
                (ledger.take(most), ledger.has_more())
            };
            if has_more && !called_others {
                called_others = true;
                self.stack.push(Task::Blocks(Arc::clone(job)));
            }
            let Some(block) = block else {
                if !self.go_on(job) {
                    return;
                }
                // The others left when there was nothing to do.
                called_others = false;
                continue;
            };
            if let Err(trouble) = self.copy_block(job, block, worker) {
                self.fail(job, trouble);
            }
            // Fewer workers are wanted: those that stay find the file on the stack.
            if !self.stack.allows_heavy(worker.number) && job.ledger.lock().has_more() {
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
                // All is written. What the last commit finds lost is written again, and the attributes are set again then.
                let meanwhile = || match job.journal {
                    Some(_) => at_once(|| self.final_attributes(job), || self.see_partial(job)).0,
                    None => self.final_attributes(job),
                };
                let (committed, set) = at_once(|| self.commit(job), meanwhile);
                if job.ledger.lock().is_complete() {
                    *job.attributes_set.lock() = set.ok();
                }
                if let Err(trouble) = committed {
                    self.fail(job, trouble);
                }
                true
            }
            Next::Done => self.on_data_complete(job),
        }
    }

    fn copy_block(&self, job: &Arc<FileJob>, block: Range<u64>, worker: &mut Worker) -> Step<()> {
        let way = self.server_way(job);
        if block.end - block.start > self.block_of(way) {
            // It was taken for a way that was refused meanwhile.
            job.ledger.lock().put_back(block);
            return Ok(());
        }
        if let Some(way) = way {
            let copied = self.copy_by_server(job, &block, way);
            if !matches!(copied, Ok(true)) {
                job.ledger.lock().put_back(block);
                return copied.map(drop);
            }
            return if self.wants_commit(job) { self.commit(job) } else { Ok(()) };
        }
        if self.skip_hole(job, &block) {
            return if self.wants_commit(job) { self.commit(job) } else { Ok(()) };
        }
        if !self.pace(block.end - block.start) {
            job.ledger.lock().put_back(block);
            return Ok(());
        }
        let went = match &job.outbox {
            _ if job.verifying.load(Ordering::Relaxed) => {
                self.in_flight(job, &block, || self.verify(job, &block, worker))
            }
            Some(outbox) => self.hand_on(job, outbox, &block),
            None => self.in_flight(job, &block, || self.transfer(job, &block, worker)),
        };
        went.inspect_err(|_| job.ledger.lock().put_back(block))?;
        // Any worker may commit: a file's one writer writes on meanwhile.
        if self.wants_commit(job) { self.commit(job) } else { Ok(()) }
    }

    /// Moves a block of a file, and asks for as many workers as the path is seen to want. A file of one block is alone with its other
    /// calls: it says nothing of a path.
    pub(super) fn in_flight<T>(
        &self,
        job: &FileJob,
        block: &Range<u64>,
        move_block: impl FnOnce() -> Step<T>,
    ) -> Step<T> {
        if job.size() <= self.block as u64 {
            return move_block();
        }
        if let Some(expected) = self.options.tuning.expected
            && self.options.jobs.is_none()
            && self.block_flight.is_idle()
        {
            // The first block takes several round trips: the others need not wait for it.
            self.stack.want(expected.calls(self.block).min(self.options.tuning.most_jobs));
        }
        let (moved, wanted) = self.block_flight.measure(block.end - block.start, move_block);
        if self.options.jobs.is_none() {
            self.stack.want(wanted);
        }
        moved
    }

    /// Goes past the hole that a block begins, if the source knows that there is one, in whole blocks.
    fn skip_hole(&self, job: &FileJob, block: &Range<u64>) -> bool {
        if !job.sparse || job.verifying.load(Ordering::Relaxed) {
            return false;
        }
        // Whatever is refused here, the read gets too.
        let Ok(next) = job.entry.parent.source().next_data(&job.node.handle, block.start) else {
            return false;
        };
        let end = match next {
            Some(at) if at < job.size() => at - at % self.block as u64,
            _ => job.size(),
        };
        if end < block.end {
            return false;
        }
        let bytes = job.ledger.lock().skip(block.clone(), end);
        add(&self.tally.copied_bytes, bytes);
        add(&self.tally.hole_bytes, bytes);
        true
    }

    fn verify(&self, job: &FileJob, block: &Range<u64>, worker: &mut Worker) -> Step<()> {
        self.verify_block(job, block.clone(), worker)?;
        job.ledger.lock().written(block.clone(), [(block.clone(), How::Durably)]);
        Ok(())
    }
}
