//! The guest: a Linux kernel as a process, with the host's files as its root and one job to do.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::command::Running;
use super::isolation::Network;
use crate::job::Job;
use crate::machine::{GUEST_KERNEL, find_command};

/// Enough for the client to cache much of what a scenario writes, and little enough that it must write back.
const MEMORY: &str = "mem=768M";

/// A running guest.
pub struct Guest {
    kernel: Running,
    /// Where the job's exit code will be.
    code: PathBuf,
}

impl Guest {
    /// Starts the kernel; the job's environment is already written.
    pub fn boot(job: &Job, network: &Network) -> Result<Self> {
        let program =
            find_command(GUEST_KERNEL).with_context(|| format!("{GUEST_KERNEL} is not installed"))?;
        let kernel = Running::start(&program, &job.log("console.txt"), |command| {
            command
                .args([
                    MEMORY,
                    "rootfstype=hostfs",
                    "root=/dev/root",
                    "rw",
                    "quiet",
                    "con=null",
                    "con0=null,fd:1",
                ])
                .arg(format!("init={}", job.work.join("scripts/init.sh").display()))
                .arg(format!("WORK={}", job.work.display()))
                .arg(format!("vec0:{}", network.guest_transport))
                .args(job.disk().exists().then(|| format!("ubda={}", job.disk().display())))
                // The guest's memory is a file here, so this must not be on a disk; isolation makes it a tmpfs.
                .env("TMPDIR", "/run")
                .env("HOME", job.work.join("home"));
        })?;
        Ok(Self { kernel, code: job.work.join("job.code") })
    }

    /// The job's exit code, once the guest has halted.
    pub fn ended(&mut self) -> Result<Option<i32>> {
        let Some(status) = self.kernel.ended()? else { return Ok(None) };
        let Ok(text) = fs::read_to_string(&self.code) else {
            bail!("the guest ended with {status} before its job did; see console.txt");
        };
        let code = text.trim().parse().with_context(|| format!("reading {}", self.code.display()))?;
        Ok(Some(code))
    }
}
