//! Workers on threads, each in its territory, and those that disturb them: how far they are, what went wrong, when to stop.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::FileSystem;

use super::territory::Territory;
use super::worker::Worker;

/// Workers and their territories.
pub struct Crew {
    /// One for each worker.
    pub territories: Vec<Arc<Territory>>,
    stop: AtomicBool,
    broken: Mutex<Vec<String>>,
    steps: Mutex<Steps>,
    stepped: Condvar,
}

/// How far all workers are together.
#[derive(Debug, Default)]
struct Steps {
    count: u64,
    /// The names of those who have not stopped.
    running: Vec<String>,
}

impl Crew {
    /// Territories for so many workers below the exported directory.
    pub fn settle(export: &Path, workers: usize, keeps_unstable: bool) -> Result<Arc<Self>> {
        let territories =
            (0..workers).map(|number| Territory::make(export, number, keeps_unstable).map(Arc::new));
        let territories = territories.collect::<std::io::Result<Vec<_>>>().context("making territories")?;
        Ok(Arc::new(Self {
            territories,
            stop: AtomicBool::new(false),
            broken: Mutex::default(),
            steps: Mutex::default(),
            stepped: Condvar::new(),
        }))
    }

    /// Lets a worker work until all are to stop, or an answer is wrong.
    pub fn employ(self: &Arc<Self>, mut worker: Worker) {
        self.start(worker.place().to_owned(), move |crew| {
            while !crew.stops() {
                worker.step()?;
                crew.stepped();
            }
            Ok(())
        });
    }

    /// Has something done on a thread of its own, beside the workers. It looks whether all are to stop.
    pub fn start(
        self: &Arc<Self>,
        name: impl Into<String>,
        work: impl FnOnce(&Self) -> Result<(), String> + Send + 'static,
    ) {
        let (crew, name) = (Arc::clone(self), name.into());
        crew.lock().running.push(name.clone());
        // A worker that hangs for ever does not keep the campaign from its end.
        std::thread::spawn(move || {
            if let Err(wrong) = work(&crew) {
                crew.report(wrong);
            }
            let mut steps = crew.lock();
            if let Some(at) = steps.running.iter().position(|other| *other == name) {
                steps.running.swap_remove(at);
            }
            drop(steps);
            crew.stepped.notify_all();
        });
    }

    /// Another step was made.
    pub fn stepped(&self) {
        self.lock().count += 1;
        self.stepped.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets all end what they do; says so if somebody has not after this long.
    pub fn dismiss(&self, patience: Duration) {
        self.stop.store(true, Ordering::Relaxed);
        self.stepped.notify_all();
        let waited =
            self.stepped.wait_timeout_while(self.lock(), patience, |steps| !steps.running.is_empty());
        let running = waited.unwrap_or_else(PoisonError::into_inner).0.running.join(", ");
        if !running.is_empty() {
            self.report(format!("still waiting for an answer after {patience:?}: {running}"));
        }
    }

    /// Waits so long, or until all are to stop.
    pub fn rest(&self, time: Duration) {
        // A step wakes us, and so does a dismissal.
        let waited = self.stepped.wait_timeout_while(self.lock(), time, |_| !self.stops());
        drop(waited);
    }

    /// Whether all are to stop.
    pub fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Something is wrong.
    pub fn report(&self, wrong: String) {
        println!("   wrong: {wrong}");
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).push(wrong);
        self.stepped.notify_all();
    }

    /// All that is wrong so far.
    pub fn broken(&self) -> Vec<String> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many steps were made.
    pub fn steps(&self) -> u64 {
        self.lock().count
    }

    /// Waits until so many steps are made in all; whether they are in time.
    pub fn wait_for(&self, count: u64, patience: Duration) -> bool {
        let waits = |steps: &mut Steps| {
            steps.count < count && self.broken.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
        };
        let waited = self.stepped.wait_timeout_while(self.lock(), patience, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.count >= count
    }

    /// Server or path is about to go, or is back: what is under way, and what begins until then, may be sent again.
    pub fn set_troubled(&self, is_troubled: bool) {
        self.territories.iter().for_each(|territory| territory.set_troubled(is_troubled));
    }

    /// Compares all territories with what is known of them; gives the bytes that were read.
    pub fn verify(&self, when: &str) -> u64 {
        let look = |territory: &Arc<Territory>| match territory.verify() {
            Ok(bytes) => bytes,
            Err(wrong) => {
                self.report(format!("{when}: {wrong}"));
                0
            }
        };
        self.territories.iter().map(look).sum()
    }

    /// Calls that were answered as only a second run is.
    pub fn second_answers(&self) -> u64 {
        self.territories.iter().map(|territory| territory.state().second_answers).sum()
    }
}

/// A client of its own.
pub fn client(url: &str) -> Result<Arc<dyn FileSystem>> {
    let parsed = url.parse().with_context(|| format!("the URL {url}"))?;
    Ok(connect(&parsed, &ConnectOptions::default()).context("mounting")?)
}
