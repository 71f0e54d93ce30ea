//! The first process inside: when it ends, the kernel ends all others. It makes the mounts, starts the process that does the
//! work, and reaps whatever is orphaned.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::guardian::Guardian;
use super::outermost::{Parent, again};
use super::{mounts, refusal};

/// Runs the work, and gives the code with which it ended.
pub fn run(parent: &Parent) -> Result<ExitCode> {
    set_parent_process_death_signal(Some(Signal::KILL)).context("asking to end with the parent")?;
    if parent_now()? != parent.process {
        bail!("process {} was killed while it started this one", parent.process);
    }
    let guardian = Guardian::new()?;
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET).map_err(refusal::namespaces)?;
    mounts::make(&parent.directory)?;
    let worker = again()?.spawn().context("starting the process that does the work")?;
    guardian.wait_for(worker.id())
}

/// Our parent as the outside numbers it, whose `/proc` is still mounted. Once it is dead, it is another one.
fn parent_now() -> Result<u32> {
    let status = fs::read_to_string("/proc/self/status").context("reading /proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    line.and_then(|number| number.trim().parse().ok()).context("/proc/self/status names no parent")
}
