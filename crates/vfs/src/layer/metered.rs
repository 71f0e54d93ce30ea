//! A file system that counts what is asked of it.

use std::sync::Arc;
use std::time::Duration;

use super::meters::{CallMeter, Snapshot};
use super::{Call, Layer};
use crate::{Caller, Change, FileSystem, ReadFile, ReadOutcome, Result, WriteFile, Written};

/// Returns how much time has gone by since some moment: this floor has no clock.
pub type Stopwatch = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Counts calls, refusals by kind, bytes, and how long calls take.
pub struct Metered {
    inner: Arc<dyn FileSystem>,
    stopwatch: Stopwatch,
    meters: [CallMeter; Call::ALL.len()],
}

impl Metered {
    /// The same files, counted.
    pub fn around(inner: Arc<dyn FileSystem>, stopwatch: Stopwatch) -> Self {
        Self { inner, stopwatch, meters: std::array::from_fn(|_| CallMeter::new()) }
    }

    /// The figures so far.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { calls: self.meters.iter().map(CallMeter::read).collect() }
    }

    fn meter(&self, call: Call) -> &CallMeter {
        &self.meters[call as usize]
    }
}

impl Layer for Metered {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let start = (self.stopwatch)();
        let outcome = run(&*self.inner);
        let time = (self.stopwatch)().saturating_sub(start);
        self.meter(call).add(time, outcome.as_ref().err().copied());
        outcome
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        let outcome = self.pass(Call::Read, |inner| inner.read(caller, read, buffer))?;
        self.meter(Call::Read).add_bytes(outcome.content.len());
        Ok(outcome)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let written = self.pass(Call::Write, |inner| inner.write(caller, write, change))?;
        self.meter(Call::Write).add_bytes(written.count);
        Ok(written)
    }
}
