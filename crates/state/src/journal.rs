//! What the log comes to as soon as all effects are durable, and up to where an answer rests on it.

use std::collections::HashMap;

use crate::effects::{DurableRecord, Effect, Serial};
use crate::records::RecoveryRecords;

/// What the log comes to as soon as all effects are durable.
#[derive(Debug)]
pub struct Journal {
    records: RecoveryRecords,
    last: Serial,
    /// What the answers since the last [`Self::take_need`] rest on.
    need: Serial,
    /// Those among them that name the client or host itself.
    own: Serial,
    /// The records of this run that name clients and hosts that are recorded.
    added: HashMap<Box<[u8]>, Serial>,
}

impl Journal {
    /// At the start of the server, with what was read.
    pub fn new(records: RecoveryRecords) -> Self {
        Self { records, last: Serial(0), need: Serial(0), own: Serial(0), added: HashMap::new() }
    }

    /// What it comes to.
    pub fn records(&self) -> &RecoveryRecords {
        &self.records
    }

    /// Writes a line.
    pub fn write<K>(&mut self, record: DurableRecord, effects: &mut Vec<Effect<K>>) {
        self.records.apply(&record);
        self.last = Serial(self.last.0 + 1);
        match &record {
            DurableRecord::AddClient { owner: name, .. } | DurableRecord::AddHost { host: name } => {
                self.added.insert(name.clone(), self.last);
            }
            DurableRecord::RemoveClient { owner: name, .. } | DurableRecord::RemoveHost { host: name } => {
                self.added.remove(name);
            }
            _ => {}
        }
        effects.push(Effect::Persist { serial: self.last, record });
    }

    /// The answer may be given only when all that is written so far is durable: it grants what excludes others, and somebody's record may
    /// have gone for it.
    pub fn rest_on_all(&mut self) {
        (self.need, self.own) = (self.last, self.last);
    }

    /// The same for what a client or host is granted, or asks for: of records that name others it needs none. While there is no room
    /// for the record of a new one, those who are recorded go on.
    pub fn rest_on(&mut self, name: Option<&[u8]>) {
        self.need = self.last;
        let own = name.and_then(|name| self.added.get(name).copied());
        self.own = self.own.max(own.unwrap_or_default());
    }

    /// Up to where the log must be durable for the answer, and the last record that names the client that gets it.
    pub fn take_need(&mut self) -> (Serial, Serial) {
        (std::mem::take(&mut self.need), std::mem::take(&mut self.own))
    }
}
