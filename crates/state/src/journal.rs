//! What the log comes to as soon as all effects are durable, and up to where an answer rests on it.

use crate::effects::{DurableRecord, Effect, Serial};
use crate::records::RecoveryRecords;

/// What the log comes to as soon as all effects are durable.
#[derive(Debug)]
pub struct Journal {
    records: RecoveryRecords,
    last: Serial,
    /// What the answers since the last [`Self::take_need`] rest on.
    need: Serial,
}

impl Journal {
    /// At the start of the server, with what was read.
    pub fn new(records: RecoveryRecords) -> Self {
        Self { records, last: Serial(0), need: Serial(0) }
    }

    /// What it comes to.
    pub fn records(&self) -> &RecoveryRecords {
        &self.records
    }

    /// Writes a line.
    pub fn write<K>(&mut self, record: DurableRecord, effects: &mut Vec<Effect<K>>) {
        self.records.apply(&record);
        self.last = Serial(self.last.0 + 1);
        effects.push(Effect::Persist { serial: self.last, record });
    }

    /// The answer may be given only when all that is written so far is durable: it grants what excludes others, and somebody's record may
    /// have gone for it.
    pub fn rest_on_all(&mut self) {
        self.need = self.last;
    }

    /// Up to where the log must be durable for the answer.
    pub fn take_need(&mut self) -> Serial {
        std::mem::take(&mut self.need)
    }
}
