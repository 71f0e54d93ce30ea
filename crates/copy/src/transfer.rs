//! A block on its way: read from the source, written to the destination, and its account kept.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use howdah_vfs::{Content, Data, FileRange, Stability};
use rustix::fs::{Advice, fadvise};

use super::engine::{Copier, Worker};
use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::FileJob;
use super::ledger::How;
use super::outbox::{Block, Outbox};
use super::side::{in_memory, reclaim};
use super::tally::add;
use super::zeros::data_runs;

/// What of a block was written, and how.
pub(super) type Parts = Vec<(Range<u64>, How)>;

impl Copier {
    /// Reads a block and writes what of it is data.
    pub(super) fn transfer(&self, job: &FileJob, block: &Range<u64>, worker: &mut Worker) -> Step<()> {
        let bytes = match self.open_block(job, block, &mut worker.buffer)? {
            Content::File(range) if job.entry.parent.item.passes_files && !job.sparse => {
                if let Some(parts) = self.pass_on(job, block, &range)? {
                    self.on_written(job, block, parts);
                    return Ok(());
                }
                self.read_block(job, block, &mut worker.buffer)?
            }
            content => whole(content, block, &mut worker.buffer)?,
        };
        let parts = self.write_block(job, block.start, &bytes);
        reclaim(bytes, &mut worker.buffer);
        self.on_written(job, block, parts?);
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
                Ok(Some(parts)) => self.on_written(job, &range, parts),
                Ok(None) => job.ledger.lock().put_back(range),
                Err(trouble) => {
                    job.ledger.lock().put_back(range);
                    self.fail(job, trouble);
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
        let stably = job.size() <= self.block as u64 || job.ledger.lock().wants_stable_writes();
        let asked = if stably { self.durability() } else { Stability::Unstable };
        let written = self.destination.write(&job.partial.handle, place, rest, asked, |at, written| {
            let how = match written.stability {
                Stability::Unstable if self.options.sync => How::Unstably(written.verifier),
                _ => How::Durably,
            };
            parts.push((at..at + written.count as u64, how));
        });
        written.at_destination("write")
    }

    /// Keeps account of a block that is written.
    pub(super) fn on_written(&self, job: &FileJob, block: &Range<u64>, parts: Parts) {
        let length = block.end - block.start;
        let written: u64 = parts.iter().map(|(part, _)| part.end - part.start).sum();
        add(&self.tally.copied_bytes, length);
        add(&self.tally.hole_bytes, length - written);
        job.committed_here.fetch_add(length, Ordering::Relaxed);
        job.ledger.lock().written(block.clone(), parts);
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
