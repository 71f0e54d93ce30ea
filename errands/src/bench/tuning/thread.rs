//! The processor time of one thread of another process.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;

/// A thread of another process. Its clock cannot be read from outside; what the scheduler tells of it is up to a tick old.
#[derive(Debug)]
pub struct ThreadClock(PathBuf);

impl ThreadClock {
    /// Of the thread with that name.
    pub fn of(process: u32, name: &str) -> anyhow::Result<Self> {
        let tasks = PathBuf::from(format!("/proc/{process}/task"));
        let step = || format!("finding the thread {name} of process {process}");
        for entry in fs::read_dir(&tasks).with_context(step)? {
            let task = entry.with_context(step)?.path();
            if fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name) {
                return Ok(Self(task.join("schedstat")));
            }
        }
        anyhow::bail!("{}: there is none", step())
    }

    /// Its processor time so far.
    pub fn now(&self) -> anyhow::Result<Duration> {
        let text = fs::read_to_string(&self.0).with_context(|| format!("reading {}", self.0.display()))?;
        let first = text.split_whitespace().next().and_then(|word| word.parse().ok());
        first.map(Duration::from_nanos).with_context(|| format!("{}: no number", self.0.display()))
    }
}
