//! Whether it is still believed that nobody else changes the tree: what those who must know wait for.

use std::time::Duration;

use howdah_vfs::layer::Stopwatch;
use howdah_vfs::{Caller, Handle};
use parking_lot::{Condvar, Mutex};

use super::audits::Audits;

/// So long at least the thread that compares directories waits for further ones.
const STEP: Duration = Duration::from_millis(10);

/// The belief that nobody else changes the tree, until it turns out to be wrong.
pub struct AloneWatch {
    stopwatch: Stopwatch,
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    audits: Audits,
    /// The directory that somebody else changed.
    broken: Option<String>,
    /// The caches are gone.
    ends: bool,
}

impl AloneWatch {
    pub(super) fn new(stopwatch: Stopwatch) -> Self {
        Self { stopwatch, state: Mutex::default(), news: Condvar::new() }
    }

    /// The directory that somebody else changed, if one was.
    pub fn broken(&self) -> Option<String> {
        self.state.lock().broken.clone()
    }

    /// Waits until somebody else changes a directory, and gives that. `None`: the caches are gone.
    pub fn wait(&self) -> Option<String> {
        let mut state = self.state.lock();
        self.news.wait_while(&mut state, |state| state.broken.is_none() && !state.ends);
        state.broken.clone()
    }

    /// Somebody else changed a directory.
    pub(super) fn on_stranger(&self, directory: String) {
        self.state.lock().broken.get_or_insert(directory);
        self.news.notify_all();
    }

    /// A caller changed a directory: it is compared after a rest.
    pub(super) fn on_changed(&self, caller: &Caller, directory: &Handle) {
        let now = (self.stopwatch)();
        let mut state = self.state.lock();
        if state.broken.is_none() && state.audits.on_changed(caller, directory, now) {
            self.news.notify_all();
        }
    }

    /// The directories that are to be compared now.
    pub(super) fn take_due(&self) -> Vec<(Caller, Handle)> {
        let now = (self.stopwatch)();
        self.state.lock().audits.take_due(now)
    }

    /// Waits until there may be some. Says whether there may.
    pub(super) fn wait_for_due(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.ends || state.broken.is_some() {
                return false;
            }
            let now = (self.stopwatch)();
            match state.audits.next() {
                None => self.news.wait(&mut state),
                Some(next) if next <= now => return true,
                Some(next) => _ = self.news.wait_for(&mut state, (next - now).max(STEP)),
            }
        }
    }

    pub(super) fn end(&self) {
        self.state.lock().ends = true;
        self.news.notify_all();
    }
}
