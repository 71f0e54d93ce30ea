//! What is to be done outside: what the log comes to with it, and up to where an answer rests on the log.

use std::collections::HashMap;

use crate::effects::{DurableRecord, Effect, Effects, Serial};
use crate::records::RecoveryRecords;

/// What the log comes to as soon as all effects are durable.
#[derive(Debug)]
pub struct Journal<K> {
    effects: Vec<Effect<K>>,
    records: RecoveryRecords,
    last: Serial,
    /// What the answers since the last [`Self::take_effects`] rest on.
    need: Serial,
    /// Those among them that name the client or host itself.
    own: Serial,
    /// The records of this run that name clients and hosts that are recorded.
    added: HashMap<Box<[u8]>, Serial>,
}

impl<K> Journal<K> {
    /// At the start of the server, with what was read.
    pub fn new(records: RecoveryRecords) -> Self {
        let (effects, added) = (Vec::new(), HashMap::new());
        Self { effects, records, last: Serial(0), need: Serial(0), own: Serial(0), added }
    }

    /// What it comes to.
    pub fn records(&self) -> &RecoveryRecords {
        &self.records
    }

    /// Writes a line.
    pub fn write(&mut self, record: DurableRecord) {
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
        self.effects.push(Effect::Persist { serial: self.last, record });
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

    /// What is to be done outside, in this order.
    pub fn effects(&mut self) -> &mut Vec<Effect<K>> {
        &mut self.effects
    }

    /// What is to be done since the last time, and up to where the log must be durable for the answer.
    pub fn take_effects(&mut self) -> Effects<K> {
        let (durable, own) = (std::mem::take(&mut self.need), std::mem::take(&mut self.own));
        Effects { list: std::mem::take(&mut self.effects), durable, own }
    }
}
