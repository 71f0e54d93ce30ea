//! One run of one scenario: its directory, the files in it, the names both sides know them by.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::scenario::Scenario;
use crate::scripts;

/// Exit code by which a job says that it cannot run here.
pub const SKIPPED: i32 = 77;

/// A scenario and where it runs.
#[derive(Debug, Clone)]
pub struct Job {
    /// What runs.
    pub scenario: Scenario,
    /// Short sizes.
    pub quick: bool,
    /// Of every random choice in it.
    pub seed: u64,
    /// The howdah under test.
    pub binary: PathBuf,
    /// The only directory that this run may write to.
    pub work: PathBuf,
}

impl Job {
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
        self.work.join("disk")
    }

    /// A log by name.
    pub fn log(&self, name: &str) -> PathBuf {
        self.work.join("log").join(name)
    }

    /// A value of the scenario in the chosen length.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.scenario.size(name, self.quick)
    }

    /// Makes the directories and writes the scripts.
    pub fn lay_out(&self) -> Result<()> {
        for directory in ["export", "state", "log", "scripts", "home"] {
            make(&self.work.join(directory))?;
        }
        let scripts = if self.scenario.guest_job().is_some() { scripts::GUEST } else { scripts::HOST };
        for (name, text) in scripts {
            let path = self.work.join("scripts").join(name);
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            make_executable(&path)?;
        }
        Ok(())
    }

    /// Writes `job.env`, which the job reads: shell words, one value a line.
    pub fn write_environment(&self, values: &[(&str, String)]) -> Result<()> {
        let path = self.work.join("job.env");
        let lines: String = values.iter().map(|(name, value)| format!("{name}='{value}'\n")).collect();
        fs::write(&path, lines).with_context(|| format!("writing {}", path.display()))
    }
}

fn make(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))
}

fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("making {} executable", path.display()))
}
