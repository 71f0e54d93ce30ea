//! A journal that is open: any thread may append, and those who wait for the disk share one sync.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::directory_disk::DirectoryDisk;
use super::disk::JournalDisk;
use super::error::JournalError;
use super::identity::{self, JournalIdentity};
use super::options::{JournalOptions, SyncFirst};
use super::record::{JournalPosition, JournalRecord};
use super::replay;
use super::segments::{NewRecord, Segments};
use super::state::{JournalCounts, State};
use super::unfinished_count::{MissingJournal, UnfinishedCount};

/// What was in a journal when it was opened.
#[derive(Debug, Default)]
pub struct ReplayedJournal {
    /// The records of all changes that are not finished, in the order in which they were appended.
    pub records: Vec<JournalRecord>,
    /// The highest number of a change that the journal ever had, or 0.
    pub highest_change: u64,
    /// Files below `refused/` with what followed a broken record.
    pub set_aside: Vec<std::path::PathBuf>,
    /// The journal that should be here is not.
    pub missing: Option<MissingJournal>,
}

/// A journal. Its last records are synced when it is dropped.
pub struct DiskJournal {
    shared: Arc<Shared>,
    id: [u8; 16],
    upkeep: Option<JoinHandle<()>>,
}

struct Shared {
    disk: Arc<dyn JournalDisk>,
    state: Mutex<State>,
    /// What is durable, for those who need not wait.
    synced: AtomicU64,
    /// A sync ended.
    flushed: Condvar,
    /// The thread has something to do.
    wake: Condvar,
    /// A segment was removed, or the journal failed.
    room: Condvar,
    count: Mutex<Option<UnfinishedCount>>,
    sync_first: Option<Arc<dyn SyncFirst>>,
}

impl DiskJournal {
    /// Opens the journal in a directory, or makes one there.
    ///
    /// # Errors
    /// Another process has it open, it is of another owner or a newer version, or the disk fails. A full disk is an error only if there is
    /// no journal yet, or no record in it that can be read.
    pub fn open(
        directory: &Path,
        identity: &JournalIdentity,
        options: JournalOptions,
    ) -> Result<(Self, ReplayedJournal), JournalError> {
        Self::open_on(Arc::new(DirectoryDisk::open(directory)?), identity, options)
    }

    /// The same on any disk.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_on(
        disk: Arc<dyn JournalDisk>,
        identity: &JournalIdentity,
        options: JournalOptions,
    ) -> Result<(Self, ReplayedJournal), JournalError> {
        let checked = identity::check(&*disk, identity, options.adopt)?;
        let found = replay::read(&*disk, options.segment)?;
        identity::check_version(&*disk, identity, checked, found.records.is_empty())?;
        let id = checked.0;
        let is_empty = found.segments.is_empty();
        let mut segments =
            Segments::new(Arc::clone(&disk), options.segment, options.segments_max(), found.segments);
        match segments.prepare() {
            // What there is may have room for marks.
            Err(JournalError::NoSpace) if !is_empty => {}
            outcome => outcome?,
        }
        let mut count = options.count_file.map(|path| UnfinishedCount::new(path, id));
        let replayed = ReplayedJournal {
            records: found.records,
            highest_change: segments.highest_change(),
            set_aside: found.set_aside,
            missing: count.as_mut().and_then(|count| count.missing(is_empty)),
        };
        let shared = Arc::new(Shared {
            disk,
            state: Mutex::new(State::new(segments, found.live, options.bound)),
            synced: AtomicU64::new(0),
            flushed: Condvar::new(),
            wake: Condvar::new(),
            room: Condvar::new(),
            count: Mutex::new(count),
            sync_first: options.sync_first,
        });
        let mut journal = Self { shared, id, upkeep: None };
        if let Some(every) = options.sync_every {
            let shared = Arc::clone(&journal.shared);
            let thread = std::thread::Builder::new().name("journal".to_owned());
            let thread = thread.spawn(move || shared.run(every));
            let path = journal.shared.disk.path("");
            let thread = thread.map_err(JournalError::disk("starting a thread for", &path))?;
            journal.upkeep = Some(thread);
        }
        Ok((journal, replayed))
    }

    /// Random bytes that this journal was given when it was made, and keeps.
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// The disk it is on, for a [`super::RefusedStore`] in the same directory.
    pub fn disk(&self) -> Arc<dyn JournalDisk> {
        Arc::clone(&self.shared.disk)
    }

    /// Appends records, all or none, in one write. When it returns, a crash of this process loses nothing of them.
    ///
    /// # Errors
    /// [`JournalError::Full`]: see [`Self::wait_for_room`]. [`JournalError::NoSpace`]: later appends may succeed. The disk fails, or did
    /// so before: no later append succeeds.
    pub fn append<P: AsRef<[u8]>>(
        &self,
        records: &[JournalRecord<P>],
    ) -> Result<JournalPosition, JournalError> {
        let records: Vec<NewRecord<'_>> = records
            .iter()
            .map(|record| NewRecord::new(record.kind, record.change, record.payload.as_ref()))
            .collect();
        self.shared.change(|state| state.append(&records))
    }

    /// The records of these changes are needless: they do not come back once the position is synced, and their room is used again.
    ///
    /// # Errors
    /// Their marks could not be written, so that a crash may bring them back. A later call writes the marks, unless the disk failed.
    pub fn finished(&self, changes: &[u64]) -> Result<JournalPosition, JournalError> {
        self.shared.change(|state| state.finish(changes))
    }

    /// Waits until everything up to a position is on the disk. Callers at the same time share syncs.
    ///
    /// # Errors
    /// The disk fails or did so before, and the position was not synced by then.
    pub fn synced(&self, position: JournalPosition) -> Result<(), JournalError> {
        let shared = &*self.shared;
        if shared.synced.load(Ordering::Acquire) >= position.0 {
            return Ok(());
        }
        let mut state = shared.state.lock();
        while !state.is_synced(position.0)? {
            shared.flush_or_wait(&mut state);
        }
        Ok(())
    }

    /// The records of a change that is not finished, read back from the disk.
    ///
    /// # Errors
    /// The disk fails or gives back other bytes; the journal has failed then.
    pub fn records(&self, change: u64) -> Result<Vec<JournalRecord>, JournalError> {
        let records = self.shared.state.lock().read(change)?;
        Ok(records.into_iter().map(|(kind, payload)| JournalRecord { kind, change, payload }).collect())
    }

    /// Waits until an append that was refused as [`JournalError::Full`] may succeed or will fail; false if it took too long.
    pub fn wait_for_room(&self, patience: Duration) -> bool {
        let mut state = self.shared.state.lock();
        let deadline = Instant::now() + patience;
        while !state.has_room() && state.check().is_ok() {
            if self.shared.room.wait_until(&mut state, deadline).timed_out() {
                return state.has_room();
            }
        }
        true
    }

    /// Whether a disk error ended it.
    pub fn is_failed(&self) -> bool {
        self.shared.state.lock().check().is_err()
    }

    /// Figures for reports.
    pub fn counts(&self) -> JournalCounts {
        self.shared.state.lock().counts()
    }

    /// Syncs, removes segments that are not needed, makes the next one ready, and moves records that hold back others. The thread of the
    /// journal does so, if it has one.
    ///
    /// # Errors
    /// The disk fails or did so before.
    pub fn upkeep(&self) -> Result<(), JournalError> {
        self.shared.upkeep()
    }
}

impl Drop for DiskJournal {
    fn drop(&mut self) {
        self.shared.state.lock().stop();
        self.shared.wake.notify_all();
        if let Some(thread) = self.upkeep.take() {
            let _ = thread.join();
        }
        // Whatever fails here is not lost before the power is: what was appended, the system has.
        let _ = self.shared.upkeep();
        self.shared.write_count(true);
    }
}

impl Shared {
    /// Changes the state, and wakes the thread if that gave it something to do.
    fn change(
        &self,
        change: impl FnOnce(&mut State) -> Result<u64, JournalError>,
    ) -> Result<JournalPosition, JournalError> {
        let mut state = self.state.lock();
        let was_clean = state.is_clean();
        let outcome = change(&mut state);
        if state.is_urgent() || was_clean && !state.is_clean() {
            self.wake.notify_one();
        }
        if state.check().is_err() {
            self.room.notify_all();
        }
        outcome.map(JournalPosition)
    }

    /// Waits for the sync that runs, or runs one for all.
    fn flush_or_wait(&self, state: &mut MutexGuard<'_, State>) {
        if state.is_flushing() {
            self.flushed.wait(state);
            return;
        }
        let flush = state.begin_flush();
        let path = self.disk.path("");
        let outcome = MutexGuard::unlocked(state, || {
            self.sync_first.iter().try_for_each(|first| first.sync())?;
            flush.run()
        });
        let outcome = outcome.map_err(|cause| match JournalError::disk("syncing", &path)(cause) {
            // A disk that is full only when it writes has lost what it took.
            JournalError::NoSpace => {
                JournalError::disk("syncing", &path)(std::io::Error::other("the disk is full"))
            }
            error => error,
        });
        self.synced.store(state.end_flush(&flush, outcome), Ordering::Release);
        self.flushed.notify_all();
        if state.check().is_err() {
            self.room.notify_all();
        }
    }

    fn run(&self, every: Duration) {
        loop {
            let mut state = self.state.lock();
            loop {
                if state.is_stopping() {
                    return;
                }
                let changes = state.counts().changes;
                let count_due = self.count.lock().as_ref().and_then(|count| count.due(changes));
                let due = [state.sync_due(every), count_due].into_iter().flatten().min();
                match due {
                    _ if state.is_urgent() => break,
                    Some(due) if due <= Instant::now() => break,
                    Some(due) => drop(self.wake.wait_until(&mut state, due)),
                    None => self.wake.wait(&mut state),
                }
            }
            drop(state);
            // An error is kept, and given to the next who asks for something.
            let _ = self.upkeep();
            self.write_count(false);
        }
    }

    fn upkeep(&self) -> Result<(), JournalError> {
        let mut state = self.state.lock();
        state.set_urgent(false);
        // Without room for them, they are written when there is.
        let _ = state.write_marks();
        state.check()?;
        let (dead, position) = (state.dead_up_to(), state.position());
        // The marks of what is removed must be durable, and so must what was moved out of it.
        while !state.is_synced(position)? {
            self.flush_or_wait(&mut state);
        }
        while let Some(name) = dead.and_then(|dead| state.take_oldest(dead)) {
            let removed = MutexGuard::unlocked(&mut state, || {
                // One after the other: a gap would hide what comes after it.
                self.disk.remove(&name).and_then(|()| self.disk.sync_names())
            });
            let removed = removed.map_err(JournalError::disk("removing", &self.disk.path(&name)));
            removed.inspect_err(|error| state.note(error))?;
            self.room.notify_all();
        }
        state.prepare()?;
        let to_move = state.to_move();
        for (change, sequence) in &to_move {
            MutexGuard::bump(&mut state);
            match state.relocate(*change, *sequence) {
                // What is finished next makes room.
                Err(JournalError::Full | JournalError::NoSpace) => return Ok(()),
                outcome => outcome?,
            }
        }
        if !to_move.is_empty() {
            state.set_urgent(true);
        }
        Ok(())
    }

    /// Writes down how many changes are not finished, if that is due.
    fn write_count(&self, at_once: bool) {
        let changes = self.state.lock().counts().changes;
        if let Some(count) = self.count.lock().as_mut() {
            count.write(changes, at_once);
        }
    }
}
