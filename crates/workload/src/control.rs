//! When threads begin and stop: all at once, and at the end of the time, when somebody asks, or when one failed.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::gate::Gate;
use super::plan::WorkloadPlan;

/// How often who rests looks whether somebody asked to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Somebody asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// What all threads of a phase look at before each operation.
pub(super) struct Control<'a> {
    asked: &'a AtomicBool,
    failed: AtomicBool,
    time: Option<Duration>,
    ramp: Duration,
    began: Mutex<Option<Instant>>,
    beginning: Condvar,
    gate: Option<Gate>,
}

/// What a thread knows once all have begun.
pub(super) struct Turn<'c> {
    control: &'c Control<'c>,
    number: usize,
    counts_from: Instant,
    deadline: Option<Instant>,
}

impl<'a> Control<'a> {
    /// For so long, once begun.
    pub(super) fn new(asked: &'a AtomicBool, time: Option<Duration>) -> Self {
        let (began, beginning) = (Mutex::new(None), Condvar::new());
        Self {
            asked,
            failed: AtomicBool::new(false),
            time,
            ramp: Duration::ZERO,
            began,
            beginning,
            gate: None,
        }
    }

    /// The same, of which the first so long does not count.
    pub(super) fn with_ramp(self, ramp: Duration) -> Self {
        Self { ramp, ..self }
    }

    /// The same with as many threads at work as a plan wants.
    pub(super) fn with_gate(self, plan: &WorkloadPlan) -> Self {
        Self { gate: Some(Gate::of(plan)), ..self }
    }

    /// Lets everybody begin.
    pub(super) fn begin(&self) -> Instant {
        let now = Instant::now();
        *self.began.lock() = Some(now);
        self.beginning.notify_all();
        now
    }

    /// Waits until all may begin. The number is that of the thread.
    pub(super) fn wait(&self, number: usize) -> Turn<'_> {
        let mut began = self.began.lock();
        let began = loop {
            match *began {
                Some(began) => break began,
                None => self.beginning.wait(&mut began),
            }
        };
        Turn {
            control: self,
            number,
            counts_from: began + self.ramp,
            deadline: self.time.map(|time| began + time),
        }
    }

    /// Stops everybody, since one failed.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }
}

impl Turn<'_> {
    /// Whether what is done now counts.
    pub(super) fn counts(&self) -> bool {
        self.control.ramp.is_zero() || Instant::now() >= self.counts_from
    }

    /// Whether to begin no further operation.
    pub(super) fn is_over(&self) -> bool {
        self.control.asked.load(Ordering::Relaxed)
            || self.control.failed.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether to begin another operation; waits while so many threads are more than the path wants.
    pub(super) fn goes_on(&self) -> bool {
        let is_over = || self.is_over();
        self.control.gate.as_ref().map_or_else(|| !is_over(), |gate| gate.pass(self.number, is_over))
    }

    /// Does an operation that moves so many bytes, by which the path is measured.
    pub(super) fn measure<T, E>(&self, bytes: u64, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        match &self.control.gate {
            Some(gate) => gate.measure(bytes, work),
            None => work(),
        }
    }

    /// Nothing is left to do.
    pub(super) fn ends(&self) {
        self.control.gate.iter().for_each(Gate::close);
    }

    /// Sleeps for so long, or until all is over: a rest is no part of the work that is waited for.
    pub(super) fn rest(&self, time: Duration) {
        let began = Instant::now();
        while !self.is_over() {
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                return;
            }
            let deadline = self.deadline.map_or(LOOK, |at| at.saturating_duration_since(Instant::now()));
            thread::sleep(left.min(deadline).min(LOOK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_ends_with_the_time_and_when_asked() {
        const LONG: Duration = Duration::from_secs(3600);
        let asked = AtomicBool::new(false);
        let control = Control::new(&asked, Some(Duration::from_millis(1)));
        control.begin();
        control.wait(0).rest(LONG);
        assert!(control.wait(0).is_over());
        let control = Control::new(&asked, None);
        control.begin();
        let turn = control.wait(0);
        asked.store(true, Ordering::Relaxed);
        turn.rest(LONG);
    }
}
