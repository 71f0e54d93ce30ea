//! What a disk holds after its power was cut: all that was flushed, and of what was written since whatever it likes.

use crate::trust::disk::Entry;
use howdah_random::Random;

/// A disk writes whole sectors or nothing of them.
const SECTOR: usize = 512;

/// What becomes of the writes that were not flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unflushed {
    /// None is there.
    Lost,
    /// All are.
    Kept,
    /// Each is or is not, by itself.
    Some,
    /// As above, and some are there in part.
    Torn,
}

impl Unflushed {
    /// One of them.
    pub fn choose(random: &mut Random) -> Self {
        [Self::Lost, Self::Kept, Self::Some, Self::Torn][random.index(4)]
    }
}

/// A disk whose log is gone through, from cut to cut.
pub struct Cutter<'l> {
    log: &'l [Entry],
    /// What is on the platter for sure.
    flushed: Vec<u8>,
    /// How far the log is on the platter.
    done: usize,
}

impl<'l> Cutter<'l> {
    /// Starts with what the disk held before its log.
    pub fn new(before: Vec<u8>, log: &'l [Entry]) -> Self {
        Self { log, flushed: before, done: 0 }
    }

    /// What the disk may hold if its power is cut at this moment of the log; moments come in their order.
    pub fn cut(&mut self, moment: usize, unflushed: Unflushed, random: &mut Random) -> Vec<u8> {
        let last = self.log[self.done..moment].iter().rposition(|entry| matches!(entry, Entry::Flush));
        if let Some(last) = last {
            for entry in &self.log[self.done..self.done + last] {
                put(&mut self.flushed, entry, |_| true);
            }
            self.done += last + 1;
        }
        let mut bytes = self.flushed.clone();
        for entry in &self.log[self.done..moment] {
            match unflushed {
                Unflushed::Lost => {}
                Unflushed::Kept => put(&mut bytes, entry, |_| true),
                Unflushed::Some if random.one_in(2) => {}
                Unflushed::Some => put(&mut bytes, entry, |_| true),
                Unflushed::Torn => put(&mut bytes, entry, |_| random.one_in(2)),
            }
        }
        bytes
    }
}

/// Writes those sectors of an entry that are chosen.
fn put(bytes: &mut [u8], entry: &Entry, mut is_chosen: impl FnMut(usize) -> bool) {
    let Entry::Write(at, data) = entry else { return };
    for (sector, part) in data.chunks(SECTOR).enumerate() {
        if is_chosen(sector) {
            let at = at + sector * SECTOR;
            bytes[at..at + part.len()].copy_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_flushed_is_there_and_of_the_rest_what_is_chosen() {
        let write = |at: usize, byte| Entry::Write(at * SECTOR, vec![byte; SECTOR]);
        let log = [write(0, 1), Entry::Flush, write(1, 2), write(0, 3), Entry::Flush, write(1, 4)];
        let held = |bytes: &[u8]| (bytes[0], bytes[SECTOR]);
        let mut cutter = Cutter::new(vec![0; 2 * SECTOR], &log);
        let mut random = Random::new(1);
        let mut cut = |moment, unflushed| held(&cutter.cut(moment, unflushed, &mut random));
        assert_eq!(cut(1, Unflushed::Lost), (0, 0));
        assert_eq!(cut(1, Unflushed::Kept), (1, 0));
        assert_eq!(cut(4, Unflushed::Lost), (1, 0));
        assert_eq!(cut(4, Unflushed::Kept), (3, 2));
        assert_eq!(cut(6, Unflushed::Lost), (3, 2));
        assert_eq!(cut(6, Unflushed::Kept), (3, 4));
    }
}
