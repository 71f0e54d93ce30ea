//! The journal of the log: what programs were answered is on this host's disk until the server has it.

use std::time::{SystemTime, UNIX_EPOCH};

use howdah_store::journal::{
    DiskJournal, JournalCounts, JournalError, JournalPosition, JournalRecord, RefusedChange, RefusedStore,
};
use parking_lot::Mutex;

use super::change::RefusedLater;
use super::log::Log;
use super::record::ChangeRecord;

/// So many bytes of records are appended at a time: fewer than a segment has.
const APPEND_MAX: usize = 16 << 20;
/// What a record takes besides its content.
const RECORD: usize = 64;
/// The largest file that is kept with its holes filled.
const FILLED_MAX: u64 = 64 << 20;

/// A journal and the store of what was refused beside it.
pub struct KeptChanges {
    journal: DiskJournal,
    refused: RefusedStore,
    /// How far all is appended that the log wanted kept.
    position: Mutex<Option<JournalPosition>>,
}

impl KeptChanges {
    /// In an open journal.
    ///
    /// # Errors
    /// What was refused earlier cannot be read.
    pub fn new(journal: DiskJournal) -> Result<Self, JournalError> {
        let refused = RefusedStore::new(journal.disk())?;
        Ok(Self { journal, refused, position: Mutex::new(None) })
    }

    /// Hands over what the log wants kept. `false`: not all of it is kept now, so that nobody may be answered on it.
    pub fn keep(&self, log: &mut Log) -> bool {
        let is_kept = match self.append(log) {
            Ok(()) => true,
            Err(JournalError::Full | JournalError::NoSpace) => false,
            Err(error) => {
                self.give_up(log, &error);
                false
            }
        };
        if let Some(outgoing) = log.outgoing.as_mut().filter(|outgoing| !outgoing.finished.is_empty()) {
            // Marks that cannot be written now are written later.
            if let Ok(position) = self.journal.finished(&std::mem::take(&mut outgoing.finished)) {
                *self.position.lock() = Some(position);
            }
        }
        is_kept
    }

    fn append(&self, log: &mut Log) -> Result<(), JournalError> {
        let Some(outgoing) = &mut log.outgoing else { return Ok(()) };
        while !outgoing.records.is_empty() {
            let (mut records, mut bytes) = (Vec::new(), 0);
            for (change, record) in &outgoing.records {
                let (kind, payload) = record.encode();
                if !records.is_empty() && bytes + payload.len() + RECORD > APPEND_MAX {
                    break;
                }
                bytes += payload.len() + RECORD;
                records.push(JournalRecord { kind, change: *change, payload });
            }
            let position = self.journal.append(&records)?;
            *self.position.lock() = Some(position);
            outgoing.records.drain(..records.len());
        }
        Ok(())
    }

    /// Puts what was refused into the store. That takes syncs, so that nobody else waits for it: the log is locked in between only. What
    /// the store cannot take stays in the journal.
    pub fn put_refused(&self, log: &Mutex<Log>) {
        let refused = log.lock().outgoing.as_mut().map(|outgoing| std::mem::take(&mut outgoing.refused));
        for (number, later) in refused.unwrap_or_default() {
            let outcome = self.refused.put(&described(&later), content(&later).as_deref());
            let mut log = log.lock();
            match outcome {
                Ok(_) => log.put_away(number, &later),
                Err(error) => {
                    tracing::error!("a refused change stays in the journal: {error}");
                    log.put_back(number, later);
                }
            }
            self.keep(&mut log);
        }
    }

    /// Waits until everything is on the disk that was kept so far.
    ///
    /// # Errors
    /// The disk fails.
    pub fn sync(&self) -> Result<(), JournalError> {
        let position = *self.position.lock();
        position.map_or(Ok(()), |position| self.journal.synced(position))
    }

    /// The journal failed: from now on, changes wait for the server.
    pub fn give_up(&self, log: &mut Log, error: &JournalError) {
        if std::mem::replace(&mut log.is_synchronous, true) {
            return;
        }
        if let Some(outgoing) = &mut log.outgoing {
            (outgoing.is_closed, outgoing.records) = (true, Vec::new());
        }
        tracing::error!("changes wait for the server from now on, since the journal failed: {error}");
    }

    /// Figures for reports.
    pub fn counts(&self) -> JournalCounts {
        self.journal.counts()
    }
}

/// Reads the records of a journal.
///
/// # Errors
/// The kind of a record that this version does not know.
pub fn decoded(records: &[JournalRecord]) -> Result<Vec<(u64, ChangeRecord)>, u8> {
    let decode = |record: &JournalRecord| {
        let decoded = ChangeRecord::decode(record.kind, &record.payload).ok_or(record.kind)?;
        Ok((record.change, decoded))
    };
    records.iter().map(decode).collect()
}

fn described(later: &RefusedLater) -> RefusedChange {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mode = later.mode.map_or(String::new(), |mode| format!("{mode:o}"));
    RefusedChange {
        kind: later.kind.to_owned(),
        path: later.path.clone(),
        caller: format!("{}:{}", later.caller.user, later.caller.group),
        reason: reason(later),
        time: now,
        details: [mode.as_bytes(), b" ", &later.other].concat(),
    }
}

/// Why it was refused; and where its data belongs, if its content leaves holes out.
fn reason(later: &RefusedLater) -> String {
    let end = later.data.iter().map(|(offset, data)| offset + data.len() as u64).max().unwrap_or(0);
    if end <= FILLED_MAX {
        return later.why.to_string();
    }
    let places = later.data.iter().map(|(offset, data)| format!("{} bytes at {offset}", data.len()));
    format!("{}; its content is {}, one after the other", later.why, places.collect::<Vec<_>>().join(", "))
}

/// The data of a file in one piece, with zeros where nothing was written; of a file with a large hole, what was written alone. `None`: it
/// is no file.
fn content(later: &RefusedLater) -> Option<Vec<u8>> {
    if later.kind != RefusedLater::FILE {
        return None;
    }
    let end = later.data.iter().map(|(offset, data)| offset + data.len() as u64).max().unwrap_or(0);
    let mut content = Vec::new();
    for (offset, data) in &later.data {
        if end <= FILLED_MAX {
            content.resize((*offset as usize).max(content.len()), 0);
        }
        content.extend_from_slice(data);
    }
    Some(content)
}
