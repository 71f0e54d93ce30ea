//! The data of one file that is not durable yet: gathered, on its way, or written and not committed. Knows no file
//! system and no lock.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use howdah_vfs::{Attributes, Caller, FsError, Stability, Timestamp};

use super::with_data::WholeWrite;
use crate::file::Uncommitted;

/// The most bytes of a file that one durable write takes: more take round trips by themselves, and attributes would overtake them.
const SMALL: u64 = 64 << 10;

/// Data and where it goes.
#[derive(Debug, Clone)]
pub struct DirtyPiece {
    /// Whose data it is.
    pub caller: Caller,
    /// Where it goes, in bytes.
    pub offset: u64,
    /// The data.
    pub bytes: Bytes,
}

impl DirtyPiece {
    /// The bytes of the file that it covers.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes.len() as u64
    }
}

/// What a write was answered with.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The data that was written.
    pub piece: DirtyPiece,
    /// How durable it is.
    pub stability: Stability,
    /// That of the server's run which took it.
    pub verifier: [u8; 8],
}

/// Data that is less than a block, and not sent yet.
#[derive(Debug)]
struct Gathered {
    caller: Caller,
    offset: u64,
    data: Vec<u8>,
    since: Instant,
}

impl Gathered {
    fn end(&self) -> u64 {
        self.offset + self.data.len() as u64
    }
}

/// One file.
#[derive(Debug, Default)]
pub struct File {
    gathered: Option<Gathered>,
    /// What calls under way write, and the number of each.
    on_the_way: Vec<(u64, Range<u64>)>,
    /// A call under way that writes all there was, and whether there was one: what was taken before it needs no COMMIT.
    pub whole_write: Option<Arc<WholeWrite>>,
    pub wrote_whole: bool,
    /// Written but not committed, each byte as it was written last.
    pub uncommitted: Uncommitted<Caller>,
    /// What went wrong, for the next call that writes or commits.
    pub failed: Option<FsError>,
    /// Whose write was taken last.
    pub writer: Option<Caller>,
    /// Whether the next one of that caller will be, as far as is known.
    pub trusted: bool,
    /// Somebody commits it, and writes again what was lost: a second one would not see what is being written again.
    pub committing: bool,
    /// The numbers of COMMITs under way that nobody asked for, and the moment up to which they make data safe.
    pub commits_ahead: Vec<u64>,
    pub committing_until: u64,
    /// One of them failed: no other is started until a program commits the file.
    pub commit_failed: bool,
    /// The error of one of them, which no program has received.
    pub commit_error: Option<FsError>,
    /// What is on its way was given up.
    pub is_given_up: bool,
    /// Bytes that were answered as not durable since the last COMMIT that a client asked for.
    pub to_commit: usize,
    /// Where the data that was taken ends, at most, and when the last of it was.
    end: u64,
    stamp: Timestamp,
}

impl File {
    /// Whether any of the bytes are gathered or on their way: order matters then.
    pub fn overlaps(&self, range: &Range<u64>) -> bool {
        let gathered = self.gathered.as_ref().map(|gathered| gathered.offset..gathered.end());
        self.on_the_way
            .iter()
            .map(|(_, range)| range)
            .chain(&gathered)
            .any(|other| other.start < range.end && range.start < other.end)
    }

    /// Takes data; gives what is worth a call now: blocks that are whole, and what was gathered elsewhere.
    pub fn gather(&mut self, caller: &Caller, offset: u64, mut data: &[u8], block: usize) -> Vec<DirtyPiece> {
        let mut ready = Vec::new();
        let mut at = offset;
        while !data.is_empty() {
            let follows = |gathered: &Gathered| gathered.caller == *caller && gathered.end() == at;
            if !self.gathered.as_ref().is_some_and(follows) {
                ready.extend(self.take());
                // What stands alone takes no more memory than it has bytes.
                let room = block - at as usize % block;
                let so_far = Vec::with_capacity(room.min(data.len()));
                let (caller, since) = (caller.clone(), Instant::now());
                self.gathered = Some(Gathered { caller, offset: at, data: so_far, since });
            }
            let Some(gathered) = &mut self.gathered else { break };
            // Calls end at multiples of the block, so that a server's pages are written whole.
            let room = block - (gathered.offset as usize % block + gathered.data.len()) % block;
            let (now, rest) = data.split_at(room.min(data.len()));
            gathered.data.extend_from_slice(now);
            (at, data) = (at + now.len() as u64, rest);
            if now.len() == room {
                ready.extend(self.take());
            }
        }
        ready
    }

    /// What is gathered, though it is less than a block.
    pub fn take(&mut self) -> Option<DirtyPiece> {
        let Gathered { caller, offset, mut data, .. } = self.gathered.take()?;
        data.shrink_to_fit();
        Some(DirtyPiece { caller, offset, bytes: data.into() })
    }

    /// When the gathered data began to wait.
    pub fn gathered_since(&self) -> Option<Instant> {
        self.gathered.as_ref().map(|gathered| gathered.since)
    }

    /// A call is on its way with these bytes. Each has a number, and those that come later have larger ones.
    pub fn send_off(&mut self, number: u64, range: Range<u64>) {
        self.on_the_way.push((number, range));
    }

    /// Whether any call is on its way, or any of those with a number up to this.
    pub fn is_on_the_way(&self, last: Option<u64>) -> bool {
        self.on_the_way.iter().any(|(number, _)| last.is_none_or(|last| *number <= last))
    }

    /// A call that was on its way with these bytes is over.
    pub fn arrived(&mut self, range: &Range<u64>) {
        if let Some(at) = self.on_the_way.iter().position(|(_, other)| other == range) {
            self.on_the_way.swap_remove(at);
        }
        self.is_given_up &= !self.on_the_way.is_empty();
    }

    /// What is gathered or on its way is not to be written any more. Gives how many bytes were gathered.
    pub fn give_up(&mut self) -> usize {
        self.is_given_up = !self.on_the_way.is_empty();
        self.gathered.take().map_or(0, |gathered| gathered.data.len())
    }

    /// Takes the answer to a write: what may still be lost is held in the place of what was there before.
    pub fn wrote(&mut self, answered: Answered) {
        let Answered { piece: DirtyPiece { caller, offset, bytes }, stability, verifier } = answered;
        match stability {
            Stability::Unstable => self.uncommitted.add(offset, bytes, verifier, caller),
            Stability::DataSync | Stability::FileSync => self.uncommitted.supersede(offset, bytes.len()),
        }
    }

    /// Whether something is gathered or on its way.
    pub fn is_dirty(&self) -> bool {
        self.gathered.is_some() || !self.on_the_way.is_empty()
    }

    /// Data was taken, up to this end, at this time.
    pub fn taken(&mut self, end: u64, stamp: Timestamp) {
        self.end = self.end.max(end);
        self.stamp = self.stamp.max(stamp);
    }

    /// The file's size was set: of what was taken before, only data that the server may not have yet makes it longer.
    pub fn sized(&mut self) {
        let gathered = self.gathered.as_ref().map(Gathered::end);
        self.end = self.on_the_way.iter().map(|(_, range)| range.end).chain(gathered).max().unwrap_or(0);
    }

    /// Where the data ends that the server may not have yet; 0 if it has all.
    pub fn dirty_end(&self) -> u64 {
        if self.is_dirty() { self.end } else { 0 }
    }

    /// What callers see: what the server says, and the data that it has not got yet.
    pub fn overlaid(&self, server: Attributes) -> Attributes {
        if !self.is_dirty() {
            return server;
        }
        Attributes {
            change: self.change_over(server),
            size: server.size.max(self.end),
            modified: server.modified.max(self.stamp),
            changed: server.changed.max(self.stamp),
            ..server
        }
    }

    /// The change attribute that callers see: another one with each write that the server has not got yet, whatever the server counts by.
    fn change_over(&self, server: Attributes) -> u64 {
        match self.stamp > server.changed {
            true => self.stamp.as_change() ^ server.change ^ server.changed.as_change(),
            false => server.change,
        }
    }

    /// Whether all there is was gathered and nothing else: one durable write makes the file safe.
    pub fn is_only_gathered(&self) -> bool {
        self.gathered.is_some() && self.on_the_way.is_empty() && self.uncommitted.is_empty()
    }

    /// Whether all there is has been sent by one durable write, which is under way.
    pub fn is_only_whole_write(&self) -> bool {
        let is_alone = self.gathered.is_none() && self.on_the_way.len() == 1 && self.uncommitted.is_empty();
        self.whole_write.is_some() && is_alone
    }

    /// Whether one durable write does for all that is held, and the file, which the server has with this size, becomes longer by it.
    pub fn may_be_whole_write(&self, caller: &Caller, size: u64) -> bool {
        let is_whole = match self.whole_write {
            Some(_) => self.is_only_whole_write(),
            None => self.is_only_gathered() && self.dirty_end() > size && self.dirty_end() <= SMALL,
        };
        is_whole
            && self.writer.as_ref() == Some(caller)
            && !self.committing
            && !self.has_error()
            && self.commits_ahead.is_empty()
    }

    /// Whether there is nothing to remember.
    pub fn is_forgettable(&self) -> bool {
        self.commits_ahead.is_empty()
            && !self.committing
            && !self.is_dirty()
            && self.uncommitted.is_empty()
            && !self.has_error()
    }

    /// Whether an error waits for a program to receive it.
    pub fn has_error(&self) -> bool {
        self.failed.is_some() || self.commit_error.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Caller = Caller::ROOT;

    /// Where each piece starts and ends.
    fn ranges(pieces: &[DirtyPiece]) -> Vec<(u64, u64)> {
        pieces.iter().map(DirtyPiece::range).map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn small_writes_become_aligned_blocks() {
        let mut file = File::default();
        assert!(file.gather(&ME, 5, &[1; 3], 10).is_empty());
        assert_eq!(ranges(&file.gather(&ME, 8, &[2; 25], 10)), [(5, 10), (10, 20), (20, 30)]);
        assert_eq!(file.take().map(|piece| piece.range()), Some(30..33));
        assert!(!file.is_dirty());
    }

    #[test]
    fn data_that_was_taken_while_the_size_was_set_counts() {
        let mut file = File::default();
        file.taken(100, Timestamp::default());
        assert!(file.gather(&ME, 5, &[1; 3], 10).is_empty());
        file.sized();
        assert_eq!(file.dirty_end(), 8);
        file.send_off(1, 20..30);
        file.sized();
        assert_eq!(file.dirty_end(), 30);
    }

    #[test]
    fn what_does_not_follow_goes_by_itself() {
        let mut file = File::default();
        assert!(file.gather(&ME, 0, &[1; 3], 10).is_empty());
        assert_eq!(ranges(&file.gather(&ME, 50, &[2; 3], 10)), [(0, 3)]);
        let somebody = Caller::new(1, 1);
        assert_eq!(
            ranges(&file.gather(&somebody, 53, &[3; 3], 10)),
            [(50, 53)],
            "another's data is written as another"
        );
        assert!(file.overlaps(&(55..60)) && !file.overlaps(&(56..60)));
    }
}
