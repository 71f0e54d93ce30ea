//! Processor time: of this thread, and of a whole process with the threads it has and had.
//!
//! `/proc/PID/stat` counts in hundredths of a second, and `/proc/PID/task/*/schedstat` lags up to a tick behind and
//! forgets threads that ended; the process clock is exact to the nanosecond.

use std::time::Duration;

use anyhow::Context;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

/// The processor time of a process.
#[derive(Debug, Clone, Copy)]
pub struct ProcessClock(ClockId);

impl ProcessClock {
    /// Of the process with this id.
    pub fn of(process: u32) -> anyhow::Result<Self> {
        let id = Pid::from_raw(i32::try_from(process).context("a process id fits")?);
        ClockId::pid_cpu_clock_id(id).map(Self).with_context(|| format!("finding the clock of process {id}"))
    }

    /// Now.
    pub fn now(self) -> anyhow::Result<Duration> {
        read(self.0).context("reading a process's processor time; has it ended?")
    }
}

/// Processor time of the calling thread.
pub fn thread_now() -> anyhow::Result<Duration> {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID).context("reading this thread's processor time")
}

fn read(clock: ClockId) -> nix::Result<Duration> {
    clock_gettime(clock).map(Duration::from)
}
