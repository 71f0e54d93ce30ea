//! Answers about files that a later WRITE makes old. A WRITE over a stream is not kept, so the reply cache does not see it;
//! here it looks whether an answer is kept that names its file. One load of memory shows that there is none.

use std::sync::atomic::{AtomicU64, Ordering};

/// Slots: with this many, the files that clients truncate and then write rarely share one.
const SLOTS: usize = 8192;

/// Files that answers of late are about.
pub struct Overwrites {
    /// 0: nothing. Even: the subject of one file. Odd: several files, and the second of the last answer.
    slots: Box<[AtomicU64]>,
    /// Seconds that an answer is kept.
    age: u64,
}

/// The slot of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSlot(usize);

/// A WRITE to a file that an answer may be about.
#[derive(Debug, Clone, Copy)]
pub struct Overwrite {
    slot: FileSlot,
    seen: u64,
    /// The file, as the client that writes it names it.
    pub subject: u64,
}

impl FileSlot {
    /// That of a file whose handle is encoded in these bytes.
    pub fn of(handle: &[u8]) -> Self {
        let words = handle.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
        let mixed = words.fold(0, |mixed: u64, word| (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self((mixed >> 32) as usize % SLOTS)
    }
}

impl Overwrites {
    /// Answers are kept for so many seconds.
    pub fn new(age: u64) -> Self {
        Self { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(), age }
    }

    /// A call about this file was answered, so many seconds after the start.
    pub fn on_answer(&self, slot: FileSlot, subject: u64, second: u64) {
        let own = even(subject);
        let merged = |seen| {
            let is_alone = seen == 0 || seen == own || self.is_old(seen, second);
            Some(if is_alone { own } else { second << 1 | 1 })
        };
        let _ = self.slots[slot.0].fetch_update(Ordering::AcqRel, Ordering::Relaxed, merged);
    }

    /// A WRITE begins; `None`: no answer is about its file. `subject` makes the number of the file, which takes time.
    pub fn begin(&self, slot: FileSlot, subject: impl FnOnce() -> u64) -> Option<Overwrite> {
        let seen = self.slots[slot.0].load(Ordering::Relaxed);
        if seen == 0 {
            return None;
        }
        let subject = subject();
        (is_several(seen) || seen == even(subject)).then_some(Overwrite { slot, seen, subject })
    }

    /// The WRITE went well: the next one to that file begins for nothing, unless a call is answered meanwhile.
    pub fn end(&self, overwrite: &Overwrite, second: u64) {
        let seen = overwrite.seen;
        if !is_several(seen) || self.is_old(seen, second) {
            let slot = &self.slots[overwrite.slot.0];
            let _ = slot.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    fn is_old(&self, seen: u64, second: u64) -> bool {
        is_several(seen) && second.saturating_sub(seen >> 1) > self.age
    }
}

fn is_several(seen: u64) -> bool {
    seen & 1 == 1
}

fn even(subject: u64) -> u64 {
    (subject & !1).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: u64 = 7;
    const OTHER: u64 = 9;

    fn begins(overwrites: &Overwrites, slot: FileSlot, subject: u64, second: u64) -> bool {
        let overwrite = overwrites.begin(slot, || subject);
        overwrite.inspect(|overwrite| overwrites.end(overwrite, second)).is_some()
    }

    #[test]
    fn the_first_write_after_an_answer_is_seen_and_no_other() {
        let (overwrites, slot) = (Overwrites::new(10), FileSlot::of(b"01234567"));
        assert!(overwrites.begin(slot, || unreachable!("nothing was answered")).is_none());
        for second in 0..2 {
            overwrites.on_answer(slot, FILE, second);
            assert!(!begins(&overwrites, slot, OTHER, second));
            assert!(begins(&overwrites, slot, FILE, second));
            assert!(!begins(&overwrites, slot, FILE, second));
        }
    }

    #[test]
    fn writes_to_files_that_share_a_slot_are_seen_until_the_last_answer_is_old() {
        let (overwrites, slot) = (Overwrites::new(10), FileSlot::of(b"01234567"));
        overwrites.on_answer(slot, FILE, 0);
        overwrites.on_answer(slot, OTHER, 4);
        for _ in 0..2 {
            assert!(begins(&overwrites, slot, FILE, 14) && begins(&overwrites, slot, OTHER, 14));
        }
        assert!(begins(&overwrites, slot, FILE, 15) && !begins(&overwrites, slot, FILE, 15));
        overwrites.on_answer(slot, FILE, 20);
        overwrites.on_answer(slot, OTHER, 21);
        overwrites.on_answer(slot, OTHER, 32);
        assert!(!begins(&overwrites, slot, FILE, 32), "its answer is forgotten");
    }

    #[test]
    fn an_answer_while_a_write_runs_is_not_lost() {
        let (overwrites, slot) = (Overwrites::new(10), FileSlot::of(b"01234567"));
        overwrites.on_answer(slot, FILE, 0);
        let overwrite = overwrites.begin(slot, || FILE).expect("it is about that file");
        overwrites.on_answer(slot, OTHER, 1);
        overwrites.end(&overwrite, 1);
        assert!(begins(&overwrites, slot, OTHER, 1));
    }
}
