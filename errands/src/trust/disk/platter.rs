//! What a disk holds and what became of it: its bytes, everything that was written to it in order with the flushes between, and
//! what is wrong with it just now.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What happened to the disk.
#[derive(Debug, Clone)]
pub enum Entry {
    /// Bytes were written at this place, into the disk's own memory.
    Write(usize, Vec<u8>),
    /// All that was written before is on the platter.
    Flush,
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// Nothing.
    #[default]
    Well,
    /// Nothing is answered.
    Hanging,
}

/// The disk's inside.
#[derive(Debug, Default)]
struct Inside {
    bytes: Vec<u8>,
    log: Vec<Entry>,
    logs: bool,
    condition: Condition,
    /// Bytes that can be neither read nor written.
    spoilt: Vec<Range<usize>>,
}

impl Inside {
    fn is_spoilt(&self, at: usize, length: usize) -> bool {
        self.spoilt.iter().any(|place| place.start < at + length && at < place.end)
    }
}

/// A disk in memory.
#[derive(Debug, Default)]
pub struct Platter {
    inside: Mutex<Inside>,
    better: Condvar,
}

impl Platter {
    /// An empty one.
    pub fn new(size: usize) -> Self {
        Self::of(vec![0; size])
    }

    /// One that holds this.
    pub fn of(bytes: Vec<u8>) -> Self {
        let inside = Inside { bytes, ..Inside::default() };
        Self { inside: Mutex::new(inside), better: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inside, as soon as the disk does not hang.
    fn answering(&self) -> MutexGuard<'_, Inside> {
        let waited = self.better.wait_while(self.lock(), |inside| inside.condition == Condition::Hanging);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Its size.
    pub fn size(&self) -> usize {
        self.lock().bytes.len()
    }

    /// Keeps from here on what is written, and only that, and gives what it holds before.
    pub fn start_log(&self) -> Vec<u8> {
        let mut inside = self.lock();
        inside.logs = true;
        inside.log.clear();
        inside.bytes.clone()
    }

    /// How much was written so far: a moment in the log.
    pub fn moment(&self) -> u64 {
        self.lock().log.len() as u64
    }

    /// Takes the log.
    pub fn take_log(&self) -> Vec<Entry> {
        std::mem::take(&mut self.lock().log)
    }

    /// Something is wrong, or well again.
    pub fn set(&self, condition: Condition) {
        self.lock().condition = condition;
        self.better.notify_all();
    }

    /// What lies in these places can be neither read nor written, from here on; in all others it can.
    pub fn spoil(&self, places: Vec<Range<usize>>) {
        self.lock().spoilt = places;
    }

    /// READ.
    pub fn read(&self, at: usize, length: usize) -> Option<Vec<u8>> {
        let inside = self.answering();
        let end = inside.bytes.len().min(at + length);
        if inside.is_spoilt(at, length) {
            return None;
        }
        Some(inside.bytes.get(at..end)?.to_vec())
    }

    /// WRITE; whether it went well.
    pub fn write(&self, at: usize, data: &[u8]) -> bool {
        let mut inside = self.answering();
        if inside.is_spoilt(at, data.len()) {
            return false;
        }
        let Some(place) = inside.bytes.get_mut(at..at + data.len()) else { return false };
        place.copy_from_slice(data);
        if inside.logs {
            inside.log.push(Entry::Write(at, data.to_vec()));
        }
        true
    }

    /// FLUSH.
    pub fn flush(&self) {
        let mut inside = self.answering();
        if inside.logs {
            inside.log.push(Entry::Flush);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spoilt_is_neither_read_nor_written_and_its_neighbours_are() {
        let platter = Platter::new(40);
        assert!(platter.write(0, &[7; 40]));
        platter.spoil(vec![10..15, 15..20]);
        for (at, length, fits) in
            [(0, 10, true), (20, 20, true), (0, 11, false), (19, 1, false), (12, 3, false)]
        {
            assert_eq!(platter.write(at, &vec![8; length]), fits, "{at}");
            assert_eq!(platter.read(at, length).is_some(), fits, "{at}");
        }
        platter.spoil(Vec::new());
        assert_eq!(platter.read(9, 12), Some([vec![8], vec![7; 10], vec![8]].concat()));
    }
}
