//! A floor, as seen by who measures it: a child process with an address and a clock.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context;

use super::Job;
use xtask::clock::ProcessClock;

/// The child; ended when dropped.
#[derive(Debug)]
pub struct Floor {
    /// What it does.
    pub job: Job,
    /// Where it listens.
    pub address: SocketAddr,
    /// The congestion control it got.
    pub congestion: String,
    /// Its processor time.
    pub clock: ProcessClock,
    child: Child,
}

impl Floor {
    /// Starts it on a core.
    pub fn start(job: Job, directory: &Path, core: usize) -> anyhow::Result<Self> {
        let step = || format!("starting the floor {}", job.name());
        let mut child = Command::new(std::env::current_exe().with_context(step)?)
            .args(["bench", "floor", &job.name(), "--core", &core.to_string(), "--directory"])
            .arg(directory)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(step)?;
        let clock = ProcessClock::of(child.id())?;
        let mut line = String::new();
        let output = child.stdout.take().with_context(step)?;
        BufReader::new(output).read_line(&mut line).with_context(step)?;
        let (address, congestion) = line.trim().split_once(' ').with_context(step)?;
        let address = address.parse().with_context(step)?;
        Ok(Self { job, address, congestion: congestion.to_owned(), clock, child })
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        // If it has ended already there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
