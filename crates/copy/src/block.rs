//! The data of a file, block by block: each worker that comes by takes the next one, until none is left.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::by_server::{ServerCopy, block_of};
use super::content::verify_block;
use super::context::Context;
use super::error::Step;
use super::failure::Failures;
use super::file_job::{FileJob, commit, wants_commit};
use super::finish::Finish;
use super::ledger::{How, Next};
use super::pace::Pace;
use super::stack::Stack;
use super::tally::add;
use super::task::Task;
use super::transfer::Transfer;
use super::worker::Worker;

/// Copies the data of files.
pub(super) struct Blocks {
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    pace: Arc<Pace>,
    server: ServerCopy,
    transfer: Arc<Transfer>,
    finish: Finish,
    failures: Arc<Failures>,
}

impl Blocks {
    /// Of these parts of a copy.
    pub(super) fn new(
        context: Arc<Context>,
        stack: Arc<Stack<Task>>,
        pace: Arc<Pace>,
        (server, transfer): (ServerCopy, Arc<Transfer>),
        (finish, failures): (Finish, Arc<Failures>),
    ) -> Self {
        Self { context, stack, pace, server, transfer, finish, failures }
    }

    /// Works on a file until nothing of it is left to take.
    pub(super) fn work_on(&self, job: &Arc<FileJob>, worker: &mut Worker) {
        let mut called_others = false;
        loop {
            if self.context.stop.is_set() {
                return self.failures.suspend(job);
            }
            let most = block_of(self.server.way(job), self.context.block);
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
                self.failures.fail(job, trouble);
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
                self.finish.commit_last(job);
                true
            }
            Next::Done => self.finish.on_data_complete(job),
        }
    }

    fn copy_block(&self, job: &Arc<FileJob>, block: Range<u64>, worker: &mut Worker) -> Step<()> {
        let way = self.server.way(job);
        if block.end - block.start > block_of(way, self.context.block) {
            // It was taken for a way that was refused meanwhile.
            job.ledger.lock().put_back(block);
            return Ok(());
        }
        if let Some(way) = way {
            let copied = self.server.copy(job, &block, way);
            if !matches!(copied, Ok(true)) {
                job.ledger.lock().put_back(block);
                return copied.map(drop);
            }
            return if wants_commit(&self.context, job) { commit(&self.context, job) } else { Ok(()) };
        }
        if self.skip_hole(job, &block) {
            return if wants_commit(&self.context, job) { commit(&self.context, job) } else { Ok(()) };
        }
        if !self.pace.wait(block.end - block.start) {
            job.ledger.lock().put_back(block);
            return Ok(());
        }
        let went = match &job.outbox {
            _ if job.verifying.load(Ordering::Relaxed) => {
                self.transfer.in_flight(job, &block, || self.verify(job, &block, worker))
            }
            Some(outbox) => self.transfer.hand_on(job, outbox, &block),
            None => self.transfer.in_flight(job, &block, || self.transfer.transfer(job, &block, worker)),
        };
        went.inspect_err(|_| job.ledger.lock().put_back(block))?;
        // Any worker may commit: a file's one writer writes on meanwhile.
        if wants_commit(&self.context, job) { commit(&self.context, job) } else { Ok(()) }
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
            Some(at) if at < job.size() => at - at % self.context.block as u64,
            _ => job.size(),
        };
        if end < block.end {
            return false;
        }
        let bytes = job.ledger.lock().skip(block.clone(), end);
        add(&self.context.tally.copied_bytes, bytes);
        add(&self.context.tally.hole_bytes, bytes);
        true
    }

    fn verify(&self, job: &FileJob, block: &Range<u64>, worker: &mut Worker) -> Step<()> {
        verify_block(&self.context, job, block.clone(), worker)?;
        job.ledger.lock().written(block.clone(), [(block.clone(), How::Durably)]);
        Ok(())
    }
}
