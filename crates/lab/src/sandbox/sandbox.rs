//! The inside, as the process sees it that does the work.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};
use nix::sys::signal::SigSet;

use super::names::SandboxNames;
use crate::network::{LabNetwork, Topology};

/// Where init says what the sandbox is. `/run` is the sandbox's own.
pub(super) const DESCRIPTION: &str = "/run/howdah/sandbox";
/// The process that does the work is the first one that init starts.
const WORKER: u32 = 2;

/// The sandbox that this process is in.
#[derive(Debug)]
pub struct LabSandbox {
    directory: PathBuf,
}

impl LabSandbox {
    /// If this process was started to work in one. A program that somebody starts there later enters one of its own.
    pub(super) fn of_this_process() -> Result<Option<Self>> {
        if process::id() != WORKER {
            return Ok(None);
        }
        let directory = match fs::read_to_string(DESCRIPTION) {
            Ok(directory) => PathBuf::from(directory),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("reading {DESCRIPTION}")),
        };
        // Init waits for signals with all of them blocked, and we began with what it has.
        SigSet::all().thread_unblock().context("unblocking signals")?;
        Ok(Some(Self { directory }))
    }

    /// Makes a network whose hosts have names here: `ip netns exec NAME` finds them, and `/etc/hosts` has their addresses,
    /// until it is dropped. One network at a time.
    pub fn network(&self, topology: &Topology) -> Result<LabNetwork> {
        let mut network = LabNetwork::build(topology)?;
        let names = SandboxNames::give(network.hosts())?;
        network.keep(names);
        Ok(network)
    }

    /// A directory for files of this run. It is removed when the sandbox ends, and if that is killed, when the next one
    /// begins.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The name by which other processes join the sandbox.
    pub fn id(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}
