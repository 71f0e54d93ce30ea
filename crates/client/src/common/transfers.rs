//! Reads and writes that are larger than the server takes in one call: parts, several of them under way at once.

use std::collections::VecDeque;

use howdah_vfs::{
    Attributes, Caller, Change, Content, FsError, Handle, ReadOutcome, Result, Stability, Written,
};

use crate::Sizes;
use crate::channel::{Channel, Payload, Pending};

/// The most parts of one read or write that are under way at once, beside what other calls have under way. The channel
/// knows what the path holds; this bounds what one caller can queue.
const PARTS_MAX: usize = 16;
/// The most bytes that may stand in a buffer which the channel receives into.
const PREFIX_MAX: usize = 4 << 10;

/// What to read.
#[derive(Clone, Copy)]
pub(crate) struct ReadRange<'r> {
    pub(crate) caller: &'r Caller,
    pub(crate) node: &'r Handle,
    pub(crate) offset: u64,
    pub(crate) count: usize,
}

/// The reply to a READ, its data being in the buffer.
pub(crate) struct ReadPart {
    /// Bytes of data.
    pub(crate) count: usize,
    pub(crate) end: bool,
    pub(crate) attributes: Option<Attributes>,
}

/// What to write.
#[derive(Clone)]
pub(crate) struct WritePart<'p> {
    pub(crate) caller: &'p Caller,
    pub(crate) node: &'p Handle,
    pub(crate) offset: u64,
    pub(crate) data: Payload,
    pub(crate) how: Stability,
}

impl WritePart<'_> {
    /// Takes up to `size` bytes off the front. What would lie beyond the largest offset is beyond any file: the server says so,
    /// and sends attributes of the file besides.
    pub(crate) fn take(&mut self, size: usize) -> Self {
        let data = self.data.split_to(size);
        let front = Self { data, ..self.clone() };
        self.offset = self.offset.saturating_add(front.data.len() as u64);
        front
    }
}

/// A client that reads and writes as much as fits one call; of these calls, larger ones are made.
pub(crate) trait Transfers {
    /// The way to the server.
    fn carried_by(&self) -> &Channel;

    /// The most that fits one call.
    fn transfer_sizes(&self) -> Sizes;

    /// Starts a READ that will append to `buffer`.
    fn start_read(&self, range: ReadRange<'_>, buffer: Vec<u8>) -> Result<Pending>;

    /// Makes a READ, or waits for one that was started, and appends its data to `buffer`; what was started appends to the
    /// buffer that it was started with. When there is no answer, what the buffer held is gone.
    fn finish_read(
        &self,
        range: ReadRange<'_>,
        started: Option<Pending>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadPart>;

    /// Starts a WRITE.
    fn start_write(&self, part: &WritePart<'_>) -> Result<Pending>;

    /// Waits for a WRITE that was started, or makes it.
    fn finish_write(
        &self,
        part: &WritePart<'_>,
        started: Option<Pending>,
        change: &mut Change,
    ) -> Result<Written>;

    /// Attributes, where no reply to a READ had them.
    fn attributes_now(&self, caller: &Caller, node: &Handle) -> Result<Attributes>;

    /// Reads a range of any size. On refusal `buffer` is as it was.
    fn read_range(&self, range: ReadRange<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        // The channel has the buffer while it receives, and keeps it when no answer comes. A little that stands in it
        // already, like the head of a reply when we serve what we read, is put back then. Much of it stays here, and what is
        // read is appended: that is the smaller copy.
        let (part_read, attributes) = if buffer.len() > PREFIX_MAX {
            let mut data = Vec::new();
            let outcome = self.read_parts(range, &mut data)?;
            buffer.extend_from_slice(&data);
            outcome
        } else {
            let before = buffer.clone();
            self.read_parts(range, buffer).inspect_err(|_| before.clone_into(buffer))?
        };
        Ok(ReadOutcome { content: Content::Appended(part_read.count), end: part_read.end, attributes })
    }

    /// The same; what the buffer held is gone when there is no answer.
    fn read_parts(&self, range: ReadRange<'_>, buffer: &mut Vec<u8>) -> Result<(ReadPart, Attributes)> {
        let size = self.within_transfer(self.transfer_sizes().read);
        let (first, mut rest) = cut(range, size);
        let pending = self.start_read(first, std::mem::take(buffer))?;
        let mut started = VecDeque::new();
        let mut start = |started: &mut VecDeque<_>| -> Result<()> {
            while let Some(range) = rest.take_if(|_| started.len() < PARTS_MAX) {
                let (part, later) = cut(range, size);
                started.push_back((part, self.start_read(part, Vec::with_capacity(part.count))?));
                rest = later;
            }
            Ok(())
        };
        start(&mut started)?;
        let part_read = self.finish_read(first, Some(pending), buffer)?;
        let mut all = self.read_rest(first, part_read, buffer)?;
        while !all.end
            && let Some((part, pending)) = started.pop_front()
        {
            start(&mut started)?;
            let mut data = Vec::new();
            let part_read = self.finish_read(part, Some(pending), &mut data)?;
            buffer.extend_from_slice(&data);
            let part_read = self.read_rest(part, part_read, buffer)?;
            all = ReadPart { count: all.count + part_read.count, ..part_read };
        }
        let attributes = all.attributes.map_or_else(|| self.attributes_now(range.caller, range.node), Ok)?;
        Ok((all, attributes))
    }

    /// A size as far as the way to the server carries it.
    fn within_transfer(&self, size: u32) -> usize {
        let size = size as usize;
        self.carried_by().transfer_size().map_or(size, |transfer| size.min(transfer))
    }

    /// What an answer left of a range that it did not fill: one READ after the other until the range or the file ends.
    fn read_rest(
        &self,
        range: ReadRange<'_>,
        mut part_read: ReadPart,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadPart> {
        while part_read.count < range.count && !part_read.end {
            let more = self.finish_read(after(range, part_read.count), None, buffer)?;
            if more.count == 0 && !more.end {
                tracing::warn!("the server reads neither a byte nor the end of the file");
                return Err(FsError::ServerFault);
            }
            part_read = ReadPart { count: part_read.count + more.count, ..more };
        }
        Ok(part_read)
    }

    /// Writes data of any size, or says how much of it was written from its start without a gap.
    fn write_range(
        &self,
        (caller, node): (&Caller, &Handle),
        (offset, data): (u64, Payload),
        how: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        let size = self.within_transfer(self.transfer_sizes().write);
        let mut rest = WritePart { caller, node, offset, data, how };
        let mut progress = Progress::default();
        let mut started = VecDeque::new();
        // Once at least: a WRITE of nothing shows whether the caller may write.
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
        mut part: WritePart<'_>,
        started: Pending,
        progress: &mut Progress,
        change: &mut Change,
    ) {
        let mut started = Some(started);
        loop {
            let mut part_change = Change::default();
            let answer = self.finish_write(&part, started.take(), &mut part_change);
            change.before = change.before.or(part_change.before);
            change.after = part_change.after.or(change.after);
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
fn cut(range: ReadRange<'_>, size: usize) -> (ReadRange<'_>, Option<ReadRange<'_>>) {
    let first = ReadRange { count: range.count.min(size), ..range };
    (first, (range.count > size).then(|| after(range, size)))
}

/// A range without its first bytes. What would lie beyond the largest offset is beyond the end of any file.
fn after(range: ReadRange<'_>, count: usize) -> ReadRange<'_> {
    ReadRange { offset: range.offset.saturating_add(count as u64), count: range.count - count, ..range }
}

/// What was written so far, from the start without a gap.
#[derive(Default)]
pub(crate) struct Progress {
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

    /// As with `write(2)`, a refusal after some bytes is reported as the shorter count.
    fn outcome(self) -> Result<Written> {
        self.written.ok_or(self.refusal.unwrap_or(FsError::ServerFault))
    }
}

/// A client of one version of NFS reads and writes in parts.
macro_rules! transfers {
    ($client:ty, $($channel:ident).+) => {
        impl $crate::common::Transfers for $client {
            fn carried_by(&self) -> &$crate::channel::Channel {
                &self.$($channel).+
            }

            fn transfer_sizes(&self) -> $crate::Sizes {
                self.sizes
            }

            fn start_read(&self, range: $crate::common::ReadRange<'_>, buffer: Vec<u8>) -> howdah_vfs::Result<$crate::channel::Pending> {
                self.begin_read(range, buffer)
            }

            fn finish_read(
                &self,
                range: $crate::common::ReadRange<'_>,
                started: Option<$crate::channel::Pending>,
                buffer: &mut Vec<u8>,
            ) -> howdah_vfs::Result<$crate::common::ReadPart> {
                self.end_read(range, started, buffer)
            }

            fn start_write(&self, part: &$crate::common::WritePart<'_>) -> howdah_vfs::Result<$crate::channel::Pending> {
                self.begin_write(part)
            }

            fn finish_write(
                &self,
                part: &$crate::common::WritePart<'_>,
                started: Option<$crate::channel::Pending>,
                change: &mut howdah_vfs::Change,
            ) -> howdah_vfs::Result<howdah_vfs::Written> {
                self.end_write(part, started, change)
            }

            fn attributes_now(&self, caller: &howdah_vfs::Caller, node: &howdah_vfs::Handle) -> howdah_vfs::Result<howdah_vfs::Attributes> {
                self.get_attributes(caller, node)
            }
        }
    };
}
pub(crate) use transfers;

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
