//! Where workers ask whether a capture runs, and where one is begun and ended. While none runs a call costs one load.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::locks::RwLock;

use super::kept::Seen;
use super::limits::Limits;
use super::running::{Running, State};
use crate::counts::{Moment, Timing};
use crate::programs::Listed;
use crate::{Peer, Reply};
use howdah_capture::{Call, Why};

/// The server's capture, if there is one: at most one at a time.
pub struct Recorder {
    procedures: Arc<[Listed]>,
    is_on: AtomicBool,
    capture: RwLock<Option<Arc<Running>>>,
}

/// Another capture runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlreadyRuns;

impl fmt::Display for AlreadyRuns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a capture runs already")
    }
}

impl std::error::Error for AlreadyRuns {}

impl Recorder {
    /// None runs yet; it will name these procedures.
    pub fn new(procedures: Arc<[Listed]>) -> Self {
        Self { procedures, is_on: AtomicBool::new(false), capture: RwLock::new(None) }
    }

    /// Whether calls are wanted.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Takes a call that was run. The caller waits for nobody.
    #[cold]
    pub fn take(&self, seen: Seen<'_>, peer: &Peer, timing: &Timing, reply: Option<&Reply>) {
        let Some(capture) = self.capture.try_read() else { return };
        let Some(capture) = capture.as_ref().filter(|capture| !capture.is_over()) else { return };
        if !capture.bring(seen.keep(peer, timing, reply)) {
            self.is_on.store(false, Ordering::Relaxed);
        }
    }

    /// Begins one.
    ///
    /// # Errors
    /// Another one runs.
    pub fn begin(&self, limits: Limits) -> Result<State, AlreadyRuns> {
        let now = Moment::now();
        let mut capture = self.capture.write();
        if capture.as_ref().is_some_and(|capture| !capture.is_over() && capture.is_due(now).is_none()) {
            return Err(AlreadyRuns);
        }
        let begun = Arc::new(Running::new(limits, now, Arc::clone(&self.procedures)));
        let state = begun.state(now);
        *capture = Some(begun);
        self.is_on.store(true, Ordering::Relaxed);
        Ok(state)
    }

    /// Ends the one that runs, if it is that number; its last calls may still be asked for. None: there is none.
    pub fn end(&self, number: Option<u64>) -> Option<State> {
        let capture = self.capture.read();
        let running = capture.as_ref().filter(|running| running.is_meant(number))?;
        let now = Moment::now();
        self.end_because(running, Why::Asked, now);
        Some(running.state(now))
    }

    /// How that number stands, the number of the last call given here, and its calls after the first `after` ones. None: there
    /// is none.
    pub fn calls(&self, number: Option<u64>, after: u64) -> Option<(State, u64, Vec<Call>)> {
        self.look_after();
        let capture = self.capture.read().clone().filter(|running| running.is_meant(number))?;
        let now = Moment::now();
        // The state before the calls: once it has ended, nothing is missing when no call is given.
        let state = capture.state(now);
        let (last, calls) = capture.calls(after, now);
        Some((state, last, calls))
    }

    /// Ends the one whose time is over or that nobody cares for, and forgets what nobody asks for.
    pub fn look_after(&self) {
        let now = Moment::now();
        let is_forgotten = {
            let capture = self.capture.read();
            let Some(running) = capture.as_ref() else { return };
            if let Some(why) = running.is_due(now) {
                self.end_because(running, why, now);
            }
            running.is_forgotten(now)
        };
        let mut capture = if is_forgotten { self.capture.write() } else { return };
        capture.take_if(|running| running.is_forgotten(now));
    }

    /// Whether there is one, running or not forgotten yet.
    pub fn is_kept(&self) -> bool {
        self.capture.read().is_some()
    }

    /// With the lock held, so that no other one begins meanwhile.
    fn end_because(&self, running: &Running, why: Why, now: Moment) {
        running.end(why, now);
        self.is_on.store(false, Ordering::Relaxed);
    }
}
