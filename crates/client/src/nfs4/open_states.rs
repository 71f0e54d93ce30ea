//! What is open and locked at the server, as the client's threads share it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use howdah_session::OpenTable;
use howdah_vfs::{Caller, FsError, Handle, Result};
use parking_lot::{Condvar, Mutex};

/// How long a thread waits for a change before it looks whether its time is over.
const LOOK: Duration = Duration::from_millis(500);

/// The opens of a client. A file is open only while something of it is locked.
#[derive(Default)]
pub(super) struct OpenStates {
    known: Mutex<KnownOpens>,
    changed: Condvar,
    /// Whether anything is open. All that READ and WRITE look at where nothing is.
    is_any: AtomicBool,
}

/// What the mutex guards.
#[derive(Default)]
pub(super) struct KnownOpens {
    /// By user and file.
    pub(super) table: OpenTable<Handle>,
    /// The credentials for the opens of each user.
    pub(super) callers: HashMap<u32, Caller>,
    /// Files with a LOCK or LOCKU under way.
    turns: HashSet<Handle>,
    /// Opens and locks are being reclaimed.
    pub(super) is_reclaiming: bool,
    /// How often a check of all stateids was asked for, and how often of that it was done.
    pub(super) checks_wanted: u64,
    pub(super) checks_done: u64,
}

/// The right to lock and unlock something of a file, which one thread has at a time.
pub(super) struct FileTurn<'a> {
    opens: &'a OpenStates,
    file: Handle,
}

impl OpenStates {
    /// Whether anything is open.
    pub(super) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
    }

    /// Waits for the right to lock and unlock something of a file.
    pub(super) fn turn(&self, file: &Handle) -> FileTurn<'_> {
        let mut known = self.known.lock();
        while !known.turns.insert(*file) {
            self.changed.wait(&mut known);
        }
        FileTurn { opens: self, file: *file }
    }

    /// Changes what is known, and wakes those who wait for that.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut KnownOpens) -> T) -> T {
        let mut known = self.known.lock();
        let outcome = change(&mut known);
        self.is_any.store(!known.table.is_empty(), Ordering::Release);
        drop(known);
        self.changed.notify_all();
        outcome
    }

    /// Asks after each change until there is an answer. Without `patience` it waits for ever.
    ///
    /// # Errors
    /// [`FsError::Delay`]: there is no answer in time.
    pub(super) fn wait_for<T>(
        &self,
        patience: Option<Duration>,
        mut ask: impl FnMut(&mut KnownOpens) -> Option<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let mut known = self.known.lock();
        loop {
            if let Some(answer) = ask(&mut known) {
                self.is_any.store(!known.table.is_empty(), Ordering::Release);
                return Ok(answer);
            }
            if patience.is_some_and(|patience| start.elapsed() > patience) {
                return Err(FsError::Delay);
            }
            self.changed.wait_for(&mut known, LOOK);
        }
    }
}

impl Drop for FileTurn<'_> {
    fn drop(&mut self) {
        self.opens.change(|known| known.turns.remove(&self.file));
    }
}
