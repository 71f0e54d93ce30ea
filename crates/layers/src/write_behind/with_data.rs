//! Attributes that are set while the data of a small file is written: when that may be, and what the replies say of the order in which the
//! server did both. Knows no file system.

use std::sync::OnceLock;
use std::time::Duration;

use howdah_vfs::{Before, Change, Timestamp};

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
    pub fn of(bytes: usize) -> Self {
        Self { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), wrote: OnceLock::new() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sent_as_much_later_as_data_takes_longer() {
        let milliseconds = Duration::from_millis;
        let mut head_start = HeadStart::default();
        assert_eq!(head_start.of(8 * UNIT), HEAD_START_MIN);
        head_start.both_took((milliseconds(132), 4 * UNIT), milliseconds(100));
        let [small, large] = [1, 8 * UNIT].map(|bytes| head_start.of(bytes));
        assert_eq!((small, large), (milliseconds(10), milliseconds(73)));
        head_start.both_took((milliseconds(100), 1), milliseconds(120));
        assert!(head_start.of(1) < small && head_start.of(1) > small - small / FALLS_BY);
        (0..1000).for_each(|_| head_start.both_took((milliseconds(1), 1), milliseconds(1)));
        assert!(head_start.of(1) < 2 * HEAD_START_MIN, "it falls where data is fast");
    }
}
