//! How far a workload is, for who looks on from another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes moved.
    Bytes,
    /// Operations done.
    Operations,
}

/// How far a workload is.
#[derive(Default)]
pub struct Progress {
    step: Mutex<Option<Step>>,
    done: AtomicU64,
}

struct Step {
    label: String,
    unit: Unit,
    total: u64,
    time: Option<Duration>,
    began: Instant,
}

/// How far it was at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressNow {
    /// What is being done.
    pub label: String,
    /// In which unit.
    pub unit: Unit,
    /// Done so far.
    pub done: u64,
    /// The part of the whole, 0 to 1, where that is known.
    pub part: Option<f64>,
    /// Done per second so far.
    pub rate: f64,
    /// Time left at this rate.
    pub left: Option<Duration>,
}

impl Progress {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How far it is; none between two steps.
    pub fn look(&self) -> Option<ProgressNow> {
        let step = self.step.lock();
        let step = step.as_ref()?;
        let (done, passed) = (self.done.load(Ordering::Relaxed), step.began.elapsed());
        let part = match step.time {
            Some(time) => Some(passed.as_secs_f64() / time.as_secs_f64().max(1e-9)),
            None => (step.total > 0).then(|| done as f64 / step.total as f64),
        };
        let part = part.map(|part| part.min(1.0));
        let left = part.filter(|&part| part > 0.0).map(|part| passed.mul_f64((1.0 - part) / part));
        let rate = done as f64 / passed.as_secs_f64().max(1e-9);
        Some(ProgressNow { label: step.label.clone(), unit: step.unit, done, part, rate, left })
    }

    /// A step of so much work begins.
    pub(super) fn begin(&self, label: String, unit: Unit, total: u64, time: Option<Duration>) {
        let mut step = self.step.lock();
        self.done.store(0, Ordering::Relaxed);
        *step = Some(Step { label, unit, total, time, began: Instant::now() });
    }

    /// The step is over.
    pub(super) fn end(&self) {
        *self.step.lock() = None;
    }

    /// So much more is done.
    pub(super) fn add(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }
}
