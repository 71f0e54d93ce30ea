//! One run of one scenario: its directory, the files in it, the names both sides know them by.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use howdah_lab::guest::GuestShare;

use crate::scenario::{Peer, Scenario};
use crate::scripts;

/// Exit code by which a job says that it cannot run here.
pub const SKIPPED: i32 = 77;

/// The disk of a guest that serves, in its work directory.
pub const DISK: &str = "disk";

/// A scenario and where it runs.
#[derive(Debug, Clone)]
pub struct Job {
    /// What runs.
    pub scenario: Scenario,
    /// Short sizes.
    pub quick: bool,
    /// Sizes other than the scenario's own.
    pub set: Vec<(String, u64)>,
    /// Of every random choice in it.
    pub seed: u64,
    /// The howdah under test.
    pub binary: PathBuf,
    /// Where test suites of other people were built.
    pub suites: Option<PathBuf>,
    /// The container image under test.
    pub image: Option<PathBuf>,
    /// A guest kernel whose client speaks TLS.
    pub newer_guest: Option<PathBuf>,
    /// The only directory that this run may write to.
    pub work: PathBuf,
}

impl Job {
    /// What a second guest has for itself, laid out as the first one's directory.
    pub fn second(&self) -> PathBuf {
        self.work.join("second")
    }

    /// Where the guest's kernel and its modules are, if they are not the system's.
    pub fn guest_files(&self) -> Option<&Path> {
        self.newer_guest.as_deref().filter(|_| self.scenario.newer_guest)
    }

    /// The exported directory.
    pub fn export(&self) -> PathBuf {
        self.work.join("export")
    }

    /// The server's state directory.
    pub fn state(&self) -> PathBuf {
        self.work.join("state")
    }

    /// The disk of a guest that serves, as a file.
    pub fn disk(&self) -> PathBuf {
        self.work.join(DISK)
    }

    /// A log by name.
    pub fn log(&self, name: &str) -> PathBuf {
        self.work.join("log").join(name)
    }

    /// A value of the scenario in the chosen length.
    pub fn size(&self, name: &str) -> Option<u64> {
        let own = self.scenario.size(name, self.quick)?;
        let set = self.set.iter().rev().find(|(key, _)| key == name);
        Some(set.map_or(own, |(_, number)| *number))
    }

    /// Makes the directories and writes the scripts.
    pub fn lay_out(&self) -> Result<()> {
        for directory in ["export", "state"] {
            make(&self.work.join(directory))?;
        }
        let scripts = if self.scenario.guest_job().is_some() { scripts::GUEST } else { scripts::HOST };
        let second = matches!(self.scenario.peer, Peer::Guest { second: Some(_), .. }).then(|| self.second());
        if let Peer::Heads { cluster, .. } = self.scenario.peer {
            let share = GuestShare::lay_out(&self.work)?;
            let own = scripts::HOST.iter().filter(|(name, _)| [cluster, scripts::HEADS].contains(name));
            own.into_iter().try_for_each(|(name, text)| share.write_script(name, text))?;
        }
        let is_mounted = matches!(self.scenario.peer, Peer::Mounted { .. });
        let of_mounts =
            scripts::HOST.iter().filter(|(name, _)| is_mounted && name.starts_with(scripts::FUSE));
        for directory in [Some(self.work.clone()), second].into_iter().flatten() {
            let share = GuestShare::lay_out(&directory)?;
            scripts
                .iter()
                .chain(scripts::SUITES)
                .chain(of_mounts.clone())
                .try_for_each(|(name, text)| share.write_script(name, text))?;
        }
        Ok(())
    }

    /// Writes what the job's shell knows.
    pub fn write_environment(&self, values: &[(&'static str, String)]) -> Result<()> {
        GuestShare::at(&self.work).write_environment(values.iter().cloned())
    }

    /// Writes what the shell of the second guest knows.
    pub fn write_second_environment(&self, values: &[(&'static str, String)]) -> Result<()> {
        GuestShare::at(&self.second()).write_environment(values.iter().cloned())
    }
}

fn make(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))
}
