//! Verify: reads both sides and compares them.

use std::ops::Range;

use howdah_vfs::Node;

use super::Side;
use super::context::Context;
use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::FileJob;
use super::pace::Pace;
use super::side::{in_memory, reclaim};
use super::worker::Worker;

/// Reads a block back from both sides: byte by byte they must be the same, which is stricter than any checksum.
pub(super) fn verify_block(
    context: &Context,
    job: &FileJob,
    block: Range<u64>,
    worker: &mut Worker,
) -> Step<()> {
    let from = (job.entry.parent.source(), &job.node);
    let to = (&context.destination, &job.partial);
    match difference((from.0, from.1), to, block, worker)? {
        None => Ok(()),
        Some(at) => Err(Trouble::destination("verify", Cause::Differs(at))),
    }
}

/// The first byte of a range in which two files differ. Stops early, as if there was none, if the copy is to stop.
pub(super) fn first_difference(
    (context, pace): (&Context, &Pace),
    one: (&Side, &Node),
    other: (&Side, &Node),
    range: Range<u64>,
    worker: &mut Worker,
) -> Step<Option<u64>> {
    let mut at = range.start;
    while at < range.end {
        let end = (at + context.block as u64).min(range.end);
        if !pace.wait(end - at) {
            break;
        }
        if let Some(difference) = difference(one, other, at..end, worker)? {
            return Ok(Some(difference));
        }
        at = end;
    }
    Ok(None)
}

fn difference(
    one: (&Side, &Node),
    other: (&Side, &Node),
    block: Range<u64>,
    worker: &mut Worker,
) -> Step<Option<u64>> {
    let length = (block.end - block.start) as usize;
    let ours = one.0.read(&one.1.handle, block.start, length, &mut worker.buffer);
    let ours = ours.and_then(|read| in_memory(read.content, &mut worker.buffer));
    let ours = ours.at_source("read back")?;
    let theirs = other.0.read(&other.1.handle, block.start, length, &mut worker.other);
    let theirs = theirs.and_then(|read| in_memory(read.content, &mut worker.other));
    let theirs = theirs.at_destination("read back")?;
    let difference = first_differing(&ours, &theirs);
    reclaim(ours, &mut worker.buffer);
    reclaim(theirs, &mut worker.other);
    Ok(difference.map(|at| block.start + at as u64))
}

/// What a file that ends in a hole does not have yet reads as nothing, which is as good as zeros.
fn first_differing(ours: &[u8], theirs: &[u8]) -> Option<usize> {
    let ends_in_hole = || ours[theirs.len()..].iter().all(|&byte| byte == 0);
    if ours == theirs || (ours.starts_with(theirs) && ends_in_hole()) {
        return None;
    }
    Some(ours.iter().zip(theirs).take_while(|(one, other)| one == other).count())
}
