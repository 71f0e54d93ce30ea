//! Transfer: a block is read from the source and written to the destination.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use howdah_vfs::{Content, Data, FileRange, Stability};
use rustix::fs::{Advice, fadvise};

use super::block_flight::BlockFlight;
use super::buffers::Buffers;
use super::context::Context;
use super::error::{Cause, Doing, Step, Trouble};
use super::failure::Failures;
use super::file_job::{FileJob, Parts, on_written};
use super::ledger::How;
use super::outbox::{Block, Outbox};
use super::side::{in_memory, reclaim};
use super::stack::Stack;
use super::task::Task;
use super::worker::Worker;
use super::zeros::data_runs;

/// Moves blocks.
pub(super) struct Transfer {
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    failures: Arc<Failures>,
    flight: BlockFlight,
    buffers: Buffers,
    /// Somebody who had read a block had to wait for who writes.
    outbox_was_full: AtomicBool,
}

impl Transfer {
    /// No block is on its way.
    pub(super) fn new(context: Arc<Context>, stack: Arc<Stack<Task>>, failures: Arc<Failures>) -> Self {
        Self {
            flight: BlockFlight::new(context.options.tuning.most_jobs, context.options.tuning.expected),
            context,
            stack,
            failures,
            buffers: Buffers::default(),
            outbox_was_full: AtomicBool::new(false),
        }
    }

    /// Whether no block is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.flight.is_idle()
    }

    /// Whether somebody had to wait for the writer of a file since this was asked last.
    pub(super) fn waited_for_writer(&self) -> bool {
        self.outbox_was_full.swap(false, Ordering::Relaxed)
    }

    /// Moves a block of a file, and asks for as many workers as the path is seen to want. A file of one block is alone with its other
    /// calls: it says nothing of a path.
    pub(super) fn in_flight<T>(
        &self,
        job: &FileJob,
        block: &Range<u64>,
        move_block: impl FnOnce() -> Step<T>,
    ) -> Step<T> {
        if job.size() <= self.context.block as u64 {
            return move_block();
        }
        if let Some(expected) = self.context.options.tuning.expected
            && self.context.options.jobs.is_none()
            && self.flight.is_idle()
        {
            // The first block takes several round trips: the others need not wait for it.
            self.stack.want(expected.calls(self.context.block).min(self.context.options.tuning.most_jobs));
        }
        let (moved, wanted) = self.flight.measure(block.end - block.start, move_block);
        if self.context.options.jobs.is_none() {
            self.stack.want(wanted);
        }
        moved
    }

    /// Reads a block and writes what of it is data.
    pub(super) fn transfer(&self, job: &FileJob, block: &Range<u64>, worker: &mut Worker) -> Step<()> {
        let bytes = match self.open_block(job, block, &mut worker.buffer)? {
            Content::File(range) if job.entry.parent.item.passes_files && !job.sparse => {
                if let Some(parts) = self.pass_on(job, block, &range)? {
                    on_written(&self.context, job, block, parts);
                    return Ok(());
                }
                self.read_block(job, block, &mut worker.buffer)?
            }
            content => whole(content, block, &mut worker.buffer)?,
        };
        let parts = self.write_block(job, block.start, &bytes);
        reclaim(bytes, &mut worker.buffer);
        on_written(&self.context, job, block, parts?);
        Ok(())
    }

    /// Reads a block and leaves it to the file's one writer, who we are if there is none.
    pub(super) fn hand_on(&self, job: &Arc<FileJob>, outbox: &Outbox, block: &Range<u64>) -> Step<()> {
        let mut buffer = self.buffers.take();
        // Its writer is bounded by itself: only the reads share a path.
        let bytes = self.in_flight(job, block, || self.read_block(job, block, &mut buffer))?;
        if outbox.put(Block { range: block.clone(), bytes }, &self.outbox_was_full) {
            self.write_waiting(job, outbox);
        }
        Ok(())
    }

    /// Writes what was read, by whomever, until nothing waits. What goes wrong then is not the caller's block alone.
    fn write_waiting(&self, job: &Arc<FileJob>, outbox: &Outbox) {
        while let Some(Block { range, bytes }) = outbox.next() {
            let is_lost = job.failed.load(Ordering::Relaxed);
            let parts = if is_lost { Ok(None) } else { self.write_block(job, range.start, &bytes).map(Some) };
            self.buffers.give_back(bytes);
            match parts {
                Ok(Some(parts)) => on_written(&self.context, job, &range, parts),
                Ok(None) => job.ledger.lock().put_back(range),
                Err(trouble) => {
                    job.ledger.lock().put_back(range);
                    self.failures.fail(job, trouble);
                }
            }
        }
    }

    /// Writes a block that lies in a file without reading it. Nothing: whose fault it is that it could not be written is not
    /// known, and reading it shows that.
    fn pass_on(&self, job: &FileJob, block: &Range<u64>, range: &FileRange) -> Step<Option<Parts>> {
        // All workers' blocks are fetched from the storage at once, though they are sent one after the other. A file that takes
        // no advice is sent all the same.
        let _ = fadvise(&range.file, range.offset, NonZeroU64::new(range.length as u64), Advice::WillNeed);
        let mut parts = Vec::with_capacity(1);
        let rest = |done| Data::File(range.after(done));
        if self.write_part(job, (block.start, range.length), rest, &mut parts).is_err() {
            return Ok(None);
        }
        // What it was when it went is known only now.
        let now = job.entry.parent.source().attributes(&job.node.handle).at_source("read")?;
        match job.is_still_copied(&now) {
            true => Ok(Some(parts)),
            false => Err(Trouble::source("read", Cause::Changed)),
        }
    }

    fn read_block(&self, job: &FileJob, block: &Range<u64>, buffer: &mut Vec<u8>) -> Step<Bytes> {
        let content = self.open_block(job, block, buffer)?;
        whole(content, block, buffer)
    }

    /// A block of the source, in memory or not.
    fn open_block(&self, job: &FileJob, block: &Range<u64>, buffer: &mut Vec<u8>) -> Step<Content> {
        let length = (block.end - block.start) as usize;
        let source = job.entry.parent.source();
        let read = source.read(&job.node.handle, block.start, length, buffer);
        let outcome = read.at_source("read")?;
        if outcome.content.len() < length || !job.is_still_copied(&outcome.attributes) {
            return Err(Trouble::source("read", Cause::Changed));
        }
        Ok(outcome.content)
    }

    fn write_block(&self, job: &FileJob, at: u64, bytes: &Bytes) -> Step<Parts> {
        let mut parts = Vec::with_capacity(1);
        match job.sparse {
            true => {
                for run in data_runs(bytes) {
                    self.write_bytes(job, at + run.start as u64, &bytes.slice(run), &mut parts)?;
                }
            }
            false => self.write_bytes(job, at, bytes, &mut parts)?,
        }
        Ok(parts)
    }

    fn write_bytes(&self, job: &FileJob, at: u64, bytes: &Bytes, parts: &mut Parts) -> Step<()> {
        self.write_part(job, (at, bytes.len()), |done| Data::Shared(bytes.slice(done..)), parts)
    }

    fn write_part(
        &self,
        job: &FileJob,
        place: (u64, usize),
        rest: impl Fn(usize) -> Data<'static>,
        parts: &mut Parts,
    ) -> Step<()> {
        // A file of one block is written stably: that spares the COMMIT.
        let stably = job.size() <= self.context.block as u64 || job.ledger.lock().wants_stable_writes();
        let asked = if stably { self.context.durability() } else { Stability::Unstable };
        let written =
            self.context.destination.write(&job.partial.handle, place, rest, asked, |at, written| {
                let how = match written.stability {
                    Stability::Unstable if self.context.options.sync => How::Unstably(written.verifier),
                    _ => How::Durably,
                };
                parts.push((at..at + written.count as u64, how));
            });
        written.at_destination("write")
    }
}

/// All of a block that was read, in memory.
fn whole(content: Content, block: &Range<u64>, buffer: &mut Vec<u8>) -> Step<Bytes> {
    let length = (block.end - block.start) as usize;
    let mut bytes = in_memory(content, buffer).at_source("read")?;
    if bytes.len() < length {
        return Err(Trouble::source("read", Cause::Changed));
    }
    bytes.truncate(length);
    Ok(bytes)
}
