//! A lock that a program believes to have, and the bytes of the registers that it locks.

use std::ops::Range;
use std::time::Instant;

use howdah_random::Random;

use super::calls::{Answer, Bytes, Open};
use super::ledger::{Record, Registers};
use super::session::Session;

/// A lock that a program believes to have.
pub struct Held {
    /// Which registers.
    pub registers: Registers,
    /// Whether it excludes readers too.
    pub exclusive: bool,
    /// Its number in the ledger.
    pub grant: u64,
    /// The run of the server that granted it, or let it be reclaimed.
    pub run: usize,
    /// When its holder last renewed the lease in that run.
    pub renewed: Instant,
}

impl Held {
    /// Opens the file again as before the server's restart, and locks what was locked.
    pub fn reclaim(&self, session: &mut Session, open: &mut Open) -> Answer<()> {
        match open.reclaim(session)? {
            Ok(()) => open.lock(session, bytes(&self.registers), self.exclusive, true),
            refused => Ok(refused),
        }
    }
}

/// The bytes of registers.
pub fn bytes(registers: &Registers) -> Bytes {
    let (start, count) = (registers.range.start, registers.range.len());
    ((start * Record::SIZE) as u64, (count * Record::SIZE) as u64)
}

/// Some registers, next to each other.
pub fn choose(random: &mut Random, registers: usize) -> Range<usize> {
    let start = random.index(registers);
    start..start + 1 + random.index(registers - start)
}
