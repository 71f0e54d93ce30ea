//! Attributes that are set while the data of a small file is written: when that may be, and what the replies say of the order in which the
//! server did both. Knows no file system.

use std::sync::OnceLock;
use std::time::Duration;

use howdah_vfs::{Before, Caller, Change, Handle, NewAttributes, Timestamp};

use super::file::{File, Piece};
use super::state::{SET_ID, State};

/// The most bytes of such a file: more take round trips by themselves, and attributes would overtake them.
const SMALL: u32 = 64 << 10;
/// Attributes are sent at least so much later than data.
const HEAD_START_MIN: Duration = Duration::from_millis(1);
/// By which part of itself the head start falls with each file.
const FALLS_BY: u32 = 32;
/// Less data than this takes as long as this.
const UNIT: u32 = 4 << 10;

/// How much later than the data of a file its attributes are sent, so that the server has the data first. Data takes longer to send, and
/// they may take different connections. Where it is too little, one more round trip is needed.
#[derive(Debug, Default)]
pub struct HeadStart {
    /// By how much the WRITE of a unit took longer than a SETATTR: the most of late.
    longer: Duration,
}

impl HeadStart {
    /// Both calls for a file took so long, with so many bytes of data.
    pub fn both_took(&mut self, (wrote, bytes): (Duration, u32), set: Duration) {
        let longer = wrote.saturating_sub(set) * UNIT / bytes.max(UNIT);
        self.longer = longer.max(self.longer - self.longer / FALLS_BY);
    }

    /// The head start of so many bytes.
    pub fn of(&self, bytes: u32) -> Duration {
        let longer = self.longer * bytes.max(UNIT) / UNIT;
        longer + longer / 8 + HEAD_START_MIN
    }
}

/// A durable WRITE of all that is held of a file.
#[derive(Debug)]
pub struct WholeWrite {
    /// The bytes that it writes.
    bytes: u32,
    /// What its reply said, and how long it took. Nothing if there was none, or more than one.
    wrote: OnceLock<(Change, Duration)>,
}

impl WholeWrite {
    /// One that was not sent yet.
    pub fn of(piece: &Piece) -> Self {
        Self { bytes: u32::try_from(piece.bytes.len()).unwrap_or(u32::MAX), wrote: OnceLock::new() }
    }

    /// The bytes that it writes.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Its only reply came.
    pub fn answered(&self, change: &Change, took: Duration) {
        // There is one.
        let _ = self.wrote.set((*change, took));
    }

    /// How long it took, if its only reply came.
    pub fn took(&self) -> Option<Duration> {
        self.wrote.get().map(|(_, took)| *took)
    }

    /// Whether a time of modification lasts that a SETATTR with this reply set. Writing sets it to now, so the server must have written the
    /// data before. Each of these shows that:
    ///
    /// - The reply to the WRITE has the time: the server looked at the file after it did both.
    /// - The SETATTR found the file as the WRITE left it. The WRITE made the file longer, so that no state before it is the same.
    /// - The SETATTR left the file with the time, later than the WRITE left it.
    pub fn is_before(&self, set: &Change, modified: Timestamp) -> bool {
        let Some((Change { before, after: Some(wrote) }, _)) = self.wrote.get() else { return false };
        let is_longer = before.is_some_and(|before| before.size < wrote.size);
        let follows = is_longer && set.before == Some(Before::from(wrote));
        let is_later =
            set.after.is_some_and(|set| set.modified == modified && set.version() > wrote.version());
        wrote.modified == modified || follows || is_later
    }
}

impl State {
    /// Whether all that is held of a file can be written by one durable WRITE while a caller sets attributes, with the same result as
    /// after it. The WRITE makes the file longer: other clients see a time that was set with the old size or with all data.
    pub fn may_set_with_data(&mut self, node: &Handle, caller: &Caller, new: &NewAttributes) -> bool {
        let Some(known) = self.known.attributes(node) else { return false };
        let is_kept = |new: Option<u32>, known: u32| new.is_none_or(|new| new == known);
        // Writing takes set-ID bits away, and a new owner may not write.
        new.size.is_none()
            && is_kept(new.user, known.user)
            && is_kept(new.group, known.group)
            && (known.mode | new.mode.unwrap_or(0)) & SET_ID == 0
            && self.files.get(node).is_some_and(|file| file.may_be_whole_write(caller, known.size))
    }
}

impl File {
    fn may_be_whole_write(&self, caller: &Caller, size: u64) -> bool {
        let is_whole = match self.whole_write {
            Some(_) => self.is_only_whole_write(),
            None => {
                self.is_only_gathered() && self.dirty_end() > size && self.dirty_end() <= u64::from(SMALL)
            }
        };
        is_whole
            && self.writer.as_ref() == Some(caller)
            && !self.committing
            && !self.has_error()
            && self.commits_ahead.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sent_as_much_later_as_data_takes_longer() {
        let milliseconds = Duration::from_millis;
        let mut head_start = HeadStart::default();
        assert_eq!(head_start.of(SMALL), HEAD_START_MIN);
        head_start.both_took((milliseconds(132), 4 * UNIT), milliseconds(100));
        let [small, large] = [1, 8 * UNIT].map(|bytes| head_start.of(bytes));
        assert_eq!((small, large), (milliseconds(10), milliseconds(73)));
        head_start.both_took((milliseconds(100), 1), milliseconds(120));
        assert!(head_start.of(1) < small && head_start.of(1) > small - small / FALLS_BY);
        (0..1000).for_each(|_| head_start.both_took((milliseconds(1), 1), milliseconds(1)));
        assert!(head_start.of(1) < 2 * HEAD_START_MIN, "it falls where data is fast");
    }
}
