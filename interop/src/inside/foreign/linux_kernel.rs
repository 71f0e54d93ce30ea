//! The Linux kernel's server, in a guest, with a fresh file system of its own.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use howdah_vfs::conformance::Abilities;

use super::serving::{Place, Serving, until_ended, until_started};
use crate::inside::command::run;
use crate::inside::environment;
use crate::inside::guest::Guest;
use crate::inside::isolation::{GUEST_ADDRESS, Network};
use crate::job::Job;

/// The size of the guest's disk: holes of a file on the host, until something is written.
const DISK: u64 = 1 << 30;
/// Entries of a large directory: enough for several pages of a listing.
const MANY: usize = 2_000;

/// A guest that serves.
pub struct LinuxKernel {
    guest: Guest,
    work: PathBuf,
    /// Its root for NFSv4 is the export.
    nfs4: bool,
}

impl LinuxKernel {
    /// Boots it and waits until it serves.
    ///
    /// # Errors
    /// It does not.
    pub fn start(job: &Job, network: &Network, file_system: &str, nfs4: bool) -> Result<Self> {
        if file_system != "tmpfs" {
            make_disk(job, file_system).context("making the guest's disk")?;
        }
        job.write_environment(&environment::of_serving_guest(job, network, (file_system, nfs4)))?;
        let mut serving = Self { guest: Guest::boot(job, network)?, work: job.work.clone(), nfs4 };
        until_started(|| {
            serving.must_run()?;
            Ok(serving.work.join("serving").exists())
        })
        .context("starting the kernel's server")?;
        Ok(serving)
    }
}

impl Serving for LinuxKernel {
    fn place(&self) -> Place {
        let abilities = Abilities { many_entries: MANY, ..Abilities::default() };
        let export = if self.nfs4 { "/" } else { "/mnt/s" };
        Place { address: GUEST_ADDRESS, export: export.to_owned(), abilities }
    }

    fn must_run(&mut self) -> Result<()> {
        match self.guest.ended()? {
            None => Ok(()),
            Some(code) => {
                bail!("the guest's job ended by itself with {code}; see log/job.txt and log/serve.txt")
            }
        }
    }

    fn end(&mut self) -> Result<()> {
        File::create(self.work.join("stop-serving")).context("telling the guest to stop")?;
        let mut code = None;
        until_ended(|| {
            code = self.guest.ended()?;
            Ok(code.is_some())
        })
        .context("ending the guest")?;
        ensure!(code == Some(0), "the guest's job ended with {code:?}");
        Ok(())
    }
}

/// An empty file system of this type on the guest's disk.
fn make_disk(job: &Job, file_system: &str) -> Result<()> {
    let path = job.disk();
    let disk = File::create(&path).with_context(|| format!("making {}", path.display()))?;
    disk.set_len(DISK).with_context(|| format!("giving {} its size", path.display()))?;
    let path = path.to_str().context("the work directory's path is not UTF-8")?;
    run(&format!("mkfs.{file_system}"), &["-q", path])
}
