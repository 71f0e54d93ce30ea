//! The guest: a Linux kernel as a process, with the host's files as its root and one job to do.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use howdah_lab::guest::{GUEST_KERNEL, GuestInterface, Kernel, find_command};

use super::command::Running;
use super::isolation::{NEWER_SEEN_AS, Network};
use crate::job::{DISK, Job};

/// Enough for the client to cache much of what a scenario writes, and little enough that it must write back.
const MEMORY_MIB: u32 = 768;

/// A running guest.
pub struct Guest {
    kernel: Running,
    /// Where the job's exit code will be.
    code: PathBuf,
}

impl Guest {
    /// Starts the kernel; the job's environment is already written.
    pub fn boot(job: &Job, network: &Network) -> Result<Self> {
        Self::boot_in(job, job.work.clone(), network.guest_interface.clone())
    }

    /// Starts the second one.
    pub fn boot_second(job: &Job, network: &Network) -> Result<Self> {
        Self::boot_in(job, job.second(), network.second_interface.clone())
    }

    fn boot_in(job: &Job, work: PathBuf, interface: Option<GuestInterface>) -> Result<Self> {
        let program = match job.guest_files() {
            Some(_) => Path::new(NEWER_SEEN_AS).join(GUEST_KERNEL),
            None => find_command(GUEST_KERNEL).with_context(|| format!("{GUEST_KERNEL} is not installed"))?,
        };
        let kernel = Kernel {
            work: work.clone(),
            memory: MEMORY_MIB,
            interface,
            disk: Some(work.join(DISK)).filter(|disk| disk.exists()),
            // Isolation makes it a tmpfs.
            memory_directory: "/run".into(),
            serial_line: false,
        };
        let kernel =
            Running::start(&program, &work.join("log/console.txt"), |command| kernel.configure(command))?;
        Ok(Self { kernel, code: work.join("job.code") })
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
