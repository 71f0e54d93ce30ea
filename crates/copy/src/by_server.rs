//! Data that a server copies from one of its files to another: none of it passes through this host.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_vfs::{Change, CopyRange, FsError, Stability};

use super::context::Context;
use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::{FileJob, Parts, on_written};
use super::ledger::How;
use super::server_refusals::{ServerRefusals, ServerWay};
use super::tally::add;
use super::{Side, Sparse};

/// The smallest file that is left to the server: reading and writing a smaller one takes as many round trips.
const LEAST: u64 = 64 << 10;
/// Bytes of a file that one worker leaves to the server at once, so that several copy a large file.
const COPY_BLOCK: u64 = 64 << 20;
/// A server that takes more answers than this for one block copies slower than reading and writing.
const ANSWERS_MAX: usize = 1024;
/// More than any file has, and a multiple of it can be reckoned with.
const WHOLE: u64 = 1 << 62;

/// Has files copied by their server.
pub(super) struct ServerCopy {
    context: Arc<Context>,
    /// The destination as it is, without what guards an ordinary user: what the server copies goes here.
    by_server: Side,
    refused: ServerRefusals,
}

impl ServerCopy {
    /// Nothing was refused yet.
    pub(super) fn new(context: Arc<Context>, by_server: Side) -> Self {
        Self { context, by_server, refused: ServerRefusals::default() }
    }

    /// How the server copies the next block of a file, if it does.
    pub(super) fn way(&self, job: &FileJob) -> Option<ServerWay> {
        let (source, destination) = (job.entry.parent.source(), &self.context.destination);
        let is_one_server = source.server.is_some()
            && source.server == destination.server
            && source.caller == destination.caller
            && self.by_server.file_system.ranges().is_some();
        if !is_one_server
            || job.size() < LEAST
            || self.context.options.rate.is_some()
            || self.context.options.sparse != Sparse::Auto
            || job.verifying.load(Ordering::Relaxed)
            || job.ledger.lock().wants_stable_writes()
        {
            return None;
        }
        let is_open = |way| !job.refused.has(way) && !self.refused.has(way);
        // A server's COPY may fill holes; a clone has those of its source.
        let copies = !job.sparse && is_open(ServerWay::Copy);
        if is_open(ServerWay::Clone) { Some(ServerWay::Clone) } else { copies.then_some(ServerWay::Copy) }
    }

    /// Has a block copied by the server. Says whether it was; if not, the next way is to be tried.
    pub(super) fn copy(&self, job: &FileJob, block: &Range<u64>, way: ServerWay) -> Step<bool> {
        let copied = match way {
            ServerWay::Clone => self.clone_block(job, block),
            ServerWay::Copy => self.copy_range(job, block),
        };
        let parts = match copied {
            Ok(parts) => parts,
            Err(refusal) => {
                job.refused.refuse(way);
                self.refused.note(way, refusal);
                return Ok(false);
            }
        };
        self.refused.copied(way);
        // What it was when it was copied is known only now.
        let now = job.entry.parent.source().attributes(&job.node.handle).at_source("read")?;
        if !job.is_still_copied(&now) {
            return Err(Trouble::source("read", Cause::Changed));
        }
        add(&self.context.tally.server_bytes, block.end - block.start);
        on_written(&self.context, job, block, parts);
        Ok(true)
    }

    /// CLONE says nothing of durability. The verifier of a COMMIT before it shows whether the server restarts until the last COMMIT.
    fn clone_block(&self, job: &FileJob, block: &Range<u64>) -> Result<Parts, FsError> {
        let verifier = self.by_server.commit(&job.partial.handle)?;
        let range = range(job, block);
        let files = &self.by_server.file_system;
        files.require_ranges()?.clone_range(&self.by_server.caller, range, &mut Change::default())?;
        let how = if self.context.options.sync { How::Unstably(verifier) } else { How::Durably };
        Ok(vec![(block.clone(), how)])
    }

    /// COPY may be answered when a part of the range is copied.
    fn copy_range(&self, job: &FileJob, block: &Range<u64>) -> Result<Parts, FsError> {
        let (mut at, mut parts) = (block.start, Parts::new());
        while at < block.end {
            let range = range(job, &(at..block.end));
            let files = &self.by_server.file_system;
            let change = &mut Change::default();
            let written = files.require_ranges()?.copy_range(&self.by_server.caller, range, change)?;
            let count = written.count as u64;
            // The source ends here, or the server makes no progress: reading it shows which.
            if count == 0 || count > block.end - at || parts.len() >= ANSWERS_MAX {
                return Err(FsError::Invalid);
            }
            let how = match written.stability {
                Stability::Unstable if self.context.options.sync => How::Unstably(written.verifier),
                _ => How::Durably,
            };
            parts.push((at..at + count, how));
            at += count;
        }
        Ok(parts)
    }
}

/// How much of a file one worker takes at once.
pub(super) fn block_of(way: Option<ServerWay>, block: usize) -> u64 {
    match way {
        Some(ServerWay::Clone) => WHOLE,
        Some(ServerWay::Copy) => COPY_BLOCK,
        None => block as u64,
    }
}

fn range<'j>(job: &'j FileJob, block: &Range<u64>) -> CopyRange<'j> {
    let (from, to) = (&job.node.handle, &job.partial.handle);
    CopyRange::new((from, block.start), (to, block.start), block.end - block.start)
}
