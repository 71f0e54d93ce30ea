//! A territory: a directory that one worker changes and nobody else, what it must hold, and the call that is open.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::world::{Act, Found, World};

/// One call of the history.
#[derive(Debug, Clone)]
pub struct Event {
    /// What was called.
    pub act: Act,
    /// What the campaign's clock showed before it was sent.
    pub sent: u64,
    /// And after its answer.
    pub answered: u64,
}

/// What is known of a territory.
pub struct State {
    /// Everything that was answered for.
    pub world: World,
    /// The call that is under way, and what the clock showed before.
    pub pending: Option<(Act, u64)>,
    /// Whether something happened to server or path while it was under way, so that it may be sent twice.
    pub disturbed: bool,
    /// Whether the same holds for calls that begin now.
    pub is_troubled: bool,
    /// Calls that were answered.
    pub answered: u64,
    /// Of those, how many were sent twice and answered as only a second run is answered.
    pub second_answers: u64,
    /// Calls that were carried out, in their order, if that is kept.
    pub history: Vec<Event>,
}

/// The directory and what is known of it.
pub struct Territory {
    /// Its name in the export.
    pub name: String,
    directory: PathBuf,
    state: Mutex<State>,
}

impl Territory {
    /// A new one below the exported directory.
    pub fn make(export: &Path, number: usize, keeps_unstable: bool) -> std::io::Result<Self> {
        let name = format!("territory-{number}");
        let directory = export.join(&name);
        std::fs::create_dir(&directory)?;
        let state = State {
            world: World::new(keeps_unstable),
            pending: None,
            disturbed: false,
            is_troubled: false,
            answered: 0,
            second_answers: 0,
            history: Vec::new(),
        };
        Ok(Self { name, directory, state: Mutex::new(state) })
    }

    /// What is known. A worker that failed has said so; what it knew is still true.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares the directory with what is known, while nobody serves it; gives the bytes that were read.
    pub fn verify(&self) -> Result<u64, String> {
        let state = self.state();
        let found =
            Found::read(&self.directory).map_err(|error| format!("reading {}: {error}", self.name))?;
        let pending = state.pending.as_ref().map(|(act, _)| act);
        found.judge(&state.world, pending).map_err(|wrong| format!("{}/{wrong}", self.name))?;
        Ok(found.bytes())
    }

    /// Whatever is under way may be sent again from here on.
    pub fn disturb(&self) {
        let mut state = self.state();
        state.disturbed = state.pending.is_some();
    }

    /// And so may be all that begins, until this is over.
    pub fn set_troubled(&self, is_troubled: bool) {
        let mut state = self.state();
        state.disturbed = state.pending.is_some();
        state.is_troubled = is_troubled;
    }
}
