//! Reads and writes that are larger than the server takes in one call: parts, several of them under way at once.

use std::collections::VecDeque;

use howdah_vfs::{
    Attributes, Caller, Change, Content, FsError, Handle, ReadOutcome, Result, Stability, Written,
};

use super::client::Nfs3;
use super::read::{Range, Told};
use super::write::Part;
use crate::channel::{Payload, Pending};

/// The most parts of one read or write that are under way at once, beside what other calls have under way. The channel
/// knows what the path holds; this bounds what one caller can queue.
const PARTS_MAX: usize = 16;
/// The most bytes that may stand in a buffer which the channel receives into.
const PREFIX_MAX: usize = 4 << 10;

impl Nfs3 {
    /// Reads a range of any size. On refusal `buffer` is as it was.
    pub(super) fn read_range(&self, range: Range<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        // The channel has the buffer while it receives, and keeps it when no answer comes. A little that stands in it
        // already, like the head of a reply when we serve what we read, is put back then. Much of it stays here, and what is
        // read is appended: that is the smaller copy.
        let (told, attributes) = if buffer.len() > PREFIX_MAX {
            let mut data = Vec::new();
            let outcome = self.read_parts(range, &mut data)?;
            buffer.extend_from_slice(&data);
            outcome
        } else {
            let before = buffer.clone();
            self.read_parts(range, buffer).inspect_err(|_| before.clone_into(buffer))?
        };
        Ok(ReadOutcome { content: Content::Appended(told.count), end: told.end, attributes })
    }

    /// The same; what the buffer held is gone when there is no answer.
    pub(super) fn read_parts(&self, range: Range<'_>, buffer: &mut Vec<u8>) -> Result<(Told, Attributes)> {
        let size = self.within_transfer(self.sizes.read);
        let (first, mut rest) = cut(range, size);
        let pending = self.start_read(first, std::mem::take(buffer));
        let mut started = VecDeque::new();
        let mut start = |started: &mut VecDeque<_>| {
            while let Some(range) = rest.take_if(|_| started.len() < PARTS_MAX) {
                let (part, later) = cut(range, size);
                started.push_back((part, self.start_read(part, Vec::with_capacity(part.count))));
                rest = later;
            }
        };
        start(&mut started);
        let told = self.finish_read(first, Some(pending), buffer)?;
        let mut all = self.read_rest(first, told, buffer)?;
        while !all.end
            && let Some((part, pending)) = started.pop_front()
        {
            start(&mut started);
            let mut data = Vec::new();
            let told = self.finish_read(part, Some(pending), &mut data)?;
            buffer.extend_from_slice(&data);
            let told = self.read_rest(part, told, buffer)?;
            all = Told { count: all.count + told.count, ..told };
        }
        let attributes = all.attributes.map_or_else(|| self.get_attributes(range.caller, range.node), Ok)?;
        Ok((all, attributes))
    }

    /// A size as far as the way to the server carries it.
    pub(super) fn within_transfer(&self, size: u32) -> usize {
        let size = size as usize;
        self.channel.transfer_size().map_or(size, |transfer| size.min(transfer))
    }

    /// What an answer left of a range that it did not fill: one READ after the other until the range or the file ends.
    fn read_rest(&self, range: Range<'_>, mut told: Told, buffer: &mut Vec<u8>) -> Result<Told> {
        while told.count < range.count && !told.end {
            let more = self.finish_read(after(range, told.count), None, buffer)?;
            if more.count == 0 && !more.end {
                tracing::warn!("the server reads neither a byte nor the end of the file");
                return Err(FsError::ServerFault);
            }
            told = Told { count: told.count + more.count, ..more };
        }
        Ok(told)
    }

    /// Writes data of any size, or says how much of it was written from its start without a gap.
    pub(super) fn write_range(
        &self,
        (caller, node): (&Caller, &Handle),
        (offset, data): (u64, Payload),
        how: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        let size = self.within_transfer(self.sizes.write);
        let mut rest = Part { caller, node, offset, data, how };
        let mut progress = Progress::default();
        let mut started = VecDeque::new();
        // Once at least: a WRITE of nothing tells whether one may write.
        let first = rest.take(size);
        started.push_back((self.start_write(&first)?, first));
        // What was started is always waited for, also when it counts no more: it must not land after what is written next.
        while let Some((pending, part)) = started.pop_front() {
            while progress.goes_on() && !rest.data.is_empty() && started.len() < PARTS_MAX {
                let part = rest.take(size);
                started.push_back((self.start_write(&part)?, part));
            }
            self.write_whole(part, pending, &mut progress, change);
        }
        progress.outcome()
    }

    /// Writes all of a part that was started, in further calls where the answer is short of it.
    fn write_whole(
        &self,
        mut part: Part<'_>,
        started: Pending,
        progress: &mut Progress,
        change: &mut Change,
    ) {
        let mut started = Some(started);
        loop {
            let mut told = Change::default();
            let answer = self.finish_write(&part, started.take(), &mut told);
            change.before = change.before.or(told.before);
            change.after = told.after.or(change.after);
            let count = answer.map_or(0, |written| written.count);
            progress.take(answer);
            if !progress.goes_on() || count == part.data.len() {
                return;
            }
            part.take(count);
        }
    }
}

/// The first `size` bytes of a range, and the rest if there is any.
fn cut(range: Range<'_>, size: usize) -> (Range<'_>, Option<Range<'_>>) {
    let first = Range { count: range.count.min(size), ..range };
    (first, (range.count > size).then(|| after(range, size)))
}

/// A range without its first bytes. What would lie beyond the largest offset is beyond the end of any file.
fn after(range: Range<'_>, count: usize) -> Range<'_> {
    Range { offset: range.offset.saturating_add(count as u64), count: range.count - count, ..range }
}

/// What was written so far, from the start without a gap.
#[derive(Default)]
struct Progress {
    written: Option<Written>,
    refusal: Option<FsError>,
    /// The server lost its memory on the way: what comes now has another verifier than what came before.
    restarted: bool,
}

impl Progress {
    fn goes_on(&self) -> bool {
        self.refusal.is_none() && !self.restarted
    }

    fn take(&mut self, answer: Result<Written>) {
        if !self.goes_on() {
            return;
        }
        match (answer, &mut self.written) {
            (Err(refusal), _) => self.refusal = Some(refusal),
            (Ok(first), None) => self.written = Some(first),
            (Ok(next), Some(all)) if next.verifier != all.verifier => self.restarted = true,
            (Ok(next), Some(all)) => {
                all.count += next.count;
                all.stability = all.stability.min(next.stability);
            }
        }
    }

    /// As with `write(2)`, a refusal after some bytes is told as the shorter count.
    fn outcome(self) -> Result<Written> {
        self.written.ok_or(self.refusal.unwrap_or(FsError::ServerFault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(count: usize, stability: Stability, verifier: u8) -> Result<Written> {
        Ok(Written { count, stability, verifier: [verifier; 8] })
    }

    fn outcome(answers: impl IntoIterator<Item = Result<Written>>) -> Result<Written> {
        let mut progress = Progress::default();
        answers.into_iter().for_each(|answer| progress.take(answer));
        progress.outcome()
    }

    #[test]
    fn parts_are_as_durable_as_the_least_durable() {
        let answers = [written(3, Stability::FileSync, 1), written(4, Stability::Unstable, 1)];
        assert_eq!(outcome(answers), written(7, Stability::Unstable, 1));
    }

    #[test]
    fn what_comes_after_a_restart_or_a_refusal_does_not_count() {
        let first = || written(3, Stability::Unstable, 1);
        assert_eq!(outcome([first(), written(4, Stability::Unstable, 2), first()]), first());
        assert_eq!(outcome([first(), Err(FsError::NoSpace), first()]), first());
        assert_eq!(outcome([Err(FsError::NoSpace), first()]), Err(FsError::NoSpace));
    }
}
