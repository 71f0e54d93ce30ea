//! A disk for tests: it loses at a power cut what was not synced, tears what was being written, fills up, fails, and flips bits.
//!
//! Of what was not synced, names and written sectors survive in any combination.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;

use howdah_random::Random;
use howdah_store::journal::{JournalDisk, JournalFile};
use parking_lot::Mutex;
use rustix::io::Errno;

/// What a disk writes whole.
const SECTOR: usize = 512;

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct SimulatedDisk(Arc<Mutex<Platter>>);

#[derive(Clone)]
struct Platter {
    contents: BTreeMap<u64, Content>,
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    /// What was done to names since.
    renamed: Vec<NameChange>,
    next: u64,
    /// Bytes that there are for all files.
    size: u64,
    random: Random,
    write_error: Option<Errno>,
    sync_error: Option<Errno>,
    /// So many changes still take effect. The one after them may be half done.
    changes_left: Option<u64>,
    has_ended: bool,
    writes: u64,
    syncs: u64,
}

#[derive(Clone)]
enum NameChange {
    Create(String, u64),
    Rename(String, String),
    Remove(String),
}

#[derive(Clone, Default)]
struct Content {
    seen: Vec<u8>,
    durable: Vec<u8>,
    /// What was written since, in this order, by offset.
    unsynced: Vec<(usize, Vec<u8>)>,
}

impl SimulatedDisk {
    /// An empty disk; what it loses follows from the seed.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Platter {
            contents: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            renamed: Vec::new(),
            next: 0,
            size: u64::MAX,
            random: Random::new(seed),
            write_error: None,
            sync_error: None,
            changes_left: None,
            has_ended: false,
            writes: 0,
            syncs: 0,
        })))
    }

    /// The disk as it is after the process was killed: nothing is lost that was written.
    pub fn after_kill(&self) -> Self {
        let mut platter = self.0.lock().clone();
        platter.restart();
        Self(Arc::new(Mutex::new(platter)))
    }

    /// The disk as it may be after the power was cut.
    pub fn after_power_cut(&self) -> Self {
        let mut platter = self.0.lock().clone();
        let mut names = std::mem::take(&mut platter.durable_names);
        let in_order = platter.random.one_in(2);
        let first = platter.random.index(platter.renamed.len() + 1);
        for (at, change) in std::mem::take(&mut platter.renamed).into_iter().enumerate() {
            if if in_order { at < first } else { platter.random.one_in(2) } {
                let _ = change.apply(&mut names);
            }
        }
        let kept = [0.0, 0.5, 0.9, 1.0][platter.random.index(4)];
        for content in platter.contents.values_mut() {
            content.lose(&mut platter.random, kept);
        }
        platter.contents.retain(|id, _| names.values().any(|named| named == id));
        platter.durable_names.clone_from(&names);
        platter.names = names;
        platter.restart();
        Self(Arc::new(Mutex::new(platter)))
    }

    /// Only so many changes still take effect; then all that is asked of it fails, as if the process ended there.
    pub fn stop_after(&self, changes: u64) {
        self.0.lock().changes_left = Some(changes);
    }

    /// Sets how many bytes there are for all files.
    pub fn set_size(&self, bytes: u64) {
        self.0.lock().size = bytes;
    }

    /// The next write fails after any part of it was done.
    pub fn fail_write(&self, error: Errno) {
        self.0.lock().write_error = Some(error);
    }

    /// The next sync fails. As in Linux, what it should have written is clean then, and the sync after it succeeds.
    pub fn fail_sync(&self, error: Errno) {
        self.0.lock().sync_error = Some(error);
    }

    /// Changes a byte of a file, in memory and on the disk. False if it has no such byte.
    pub fn flip(&self, name: &str, offset: usize, mask: u8) -> bool {
        let mut platter = self.0.lock();
        let Some(content) = platter.id(name).and_then(|id| platter.contents.get_mut(&id)) else {
            return false;
        };
        let bytes = [&mut content.seen, &mut content.durable].map(|bytes| bytes.get_mut(offset));
        bytes.into_iter().flatten().map(|byte| *byte ^= mask).count() > 0
    }

    /// What a file holds.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let platter = self.0.lock();
        platter.id(name).map(|id| platter.contents[&id].seen.clone())
    }

    /// Writes to files so far.
    pub fn writes(&self) -> u64 {
        self.0.lock().writes
    }

    /// Syncs of files so far.
    pub fn syncs(&self) -> u64 {
        self.0.lock().syncs
    }

    /// Bytes of all files.
    pub fn used(&self) -> u64 {
        self.0.lock().used()
    }
}

impl Platter {
    fn id(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    fn used(&self) -> u64 {
        self.names.values().map(|id| self.contents[id].seen.len() as u64).sum()
    }

    /// Another process uses it.
    fn restart(&mut self) {
        (self.changes_left, self.has_ended) = (None, false);
        (self.write_error, self.sync_error) = (None, None);
    }

    /// Fails once the process has ended.
    fn change(&mut self) -> io::Result<()> {
        self.has_ended |= self.changes_left == Some(0);
        self.changes_left = self.changes_left.map(|left| left.saturating_sub(1));
        if self.has_ended { Err(Errno::IO.into()) } else { Ok(()) }
    }

    fn rename(&mut self, change: NameChange) -> io::Result<()> {
        self.change()?;
        change.clone().apply(&mut self.names).ok_or(io::ErrorKind::NotFound)?;
        self.renamed.push(change);
        Ok(())
    }

    fn sync(&mut self, id: u64) -> io::Result<()> {
        self.change()?;
        self.syncs += 1;
        let error = self.sync_error.take();
        let content = self.contents.get_mut(&id).ok_or(Errno::IO)?;
        content.unsynced.clear();
        match error {
            Some(error) => Err(error.into()),
            None => {
                content.durable.clone_from(&content.seen);
                Ok(())
            }
        }
    }
}

impl NameChange {
    /// `None`: there is nothing to change.
    fn apply(self, names: &mut BTreeMap<String, u64>) -> Option<()> {
        match self {
            Self::Create(name, id) => drop(names.insert(name, id)),
            Self::Rename(from, to) => {
                let id = names.remove(&from)?;
                names.insert(to, id);
            }
            Self::Remove(name) => drop(names.remove(&name)?),
        }
        Some(())
    }
}

impl Content {
    /// Sectors that were not synced survive with this probability.
    fn lose(&mut self, random: &mut Random, kept: f64) {
        self.durable.resize(self.seen.len(), 0);
        for (offset, bytes) in std::mem::take(&mut self.unsynced) {
            let mut at = 0;
            while at < bytes.len() {
                let end = (((offset + at) / SECTOR + 1) * SECTOR - offset).min(bytes.len());
                if random.chance(kept) {
                    self.durable[offset + at..offset + end].copy_from_slice(&bytes[at..end]);
                }
                at = end;
            }
        }
        self.seen.clone_from(&self.durable);
    }
}

impl JournalDisk for SimulatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().names.keys().cloned().collect())
    }

    fn create(&self, name: &str, length: u64) -> io::Result<Arc<dyn JournalFile>> {
        let mut platter = self.0.lock();
        if platter.id(name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if platter.used().saturating_add(length) > platter.size {
            return Err(Errno::NOSPC.into());
        }
        platter.next += 1;
        let id = platter.next;
        platter.rename(NameChange::Create(name.to_owned(), id))?;
        let seen = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        platter.contents.insert(id, Content { seen, ..Content::default() });
        Ok(Arc::new(SimulatedFile { disk: self.clone(), id }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn JournalFile>> {
        let id = self.0.lock().id(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), id }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.lock().rename(NameChange::Rename(from.to_owned(), to.to_owned()))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.lock().rename(NameChange::Remove(name.to_owned()))
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut platter = self.0.lock();
        platter.change()?;
        platter.durable_names = platter.names.clone();
        platter.renamed.clear();
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from("/simulated").join(name)
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    id: u64,
}

impl JournalFile for SimulatedFile {
    fn length(&self) -> io::Result<u64> {
        let platter = self.disk.0.lock();
        Ok(platter.contents.get(&self.id).ok_or(Errno::IO)?.seen.len() as u64)
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let mut platter = self.disk.0.lock();
        let content = platter.contents.get_mut(&self.id).ok_or(Errno::IO)?;
        // What is not written yet is written now, and what the kernel believes to be clean is read again.
        for (offset, bytes) in std::mem::take(&mut content.unsynced) {
            let length = content.durable.len().max(offset + bytes.len());
            content.durable.resize(length, 0);
            content.durable[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
        let length = content.seen.len();
        content.durable.resize(length, 0);
        content.seen.clone_from(&content.durable);
        Ok(content.seen.clone())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let platter = self.disk.0.lock();
        let content = platter.contents.get(&self.id).ok_or(Errno::IO)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = content.seen.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut bytes = parts.iter().flat_map(|part| part.iter().copied()).collect::<Vec<u8>>();
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let mut platter = self.disk.0.lock();
        platter.writes += 1;
        let had_ended = platter.has_ended;
        let outcome = platter.change();
        let outcome = outcome.and(platter.write_error.take().map_or(Ok(()), |error| Err(error.into())));
        if outcome.is_err() {
            let most = if had_ended { 0 } else { bytes.len() };
            let done = platter.random.index(most.max(1));
            bytes.truncate(done);
        }
        let content = platter.contents.get_mut(&self.id).ok_or(Errno::IO)?;
        let end = offset + bytes.len();
        if content.seen.len() < end {
            content.seen.resize(end, 0);
        }
        content.seen[offset..end].copy_from_slice(&bytes);
        content.unsynced.push((offset, bytes));
        outcome
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.0.lock().sync(self.id)
    }
}
