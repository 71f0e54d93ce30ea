//! Does to the server what the scenario says, when it says.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::server::Server;
use crate::job::Job;
use crate::scenario::{Action, Disturbance, When};

/// Fewer than this under load prove little.
const FEWEST_UNDER_LOAD: u32 = 2;

/// The scenario's disturbance and how often it has happened.
pub struct Disturber {
    disturbance: Option<Disturbance>,
    size: u64,
    export: PathBuf,
    work: PathBuf,
    happened: u32,
    last: Option<Instant>,
}

impl Disturber {
    /// Nothing has happened yet.
    pub fn new(job: &Job) -> Self {
        Self {
            disturbance: job.scenario.disturbance,
            size: job.size("SIZE").unwrap_or(0),
            export: job.export(),
            work: job.work.clone(),
            happened: 0,
            last: None,
        }
    }

    /// Looks whether it is time, and then does it.
    pub fn step(&mut self, server: &mut Server) -> Result<()> {
        let Some(disturbance) = self.disturbance else { return Ok(()) };
        if self.is_time(disturbance.when) {
            self.act(disturbance.action, server)?;
            self.happened += 1;
            self.last = Some(Instant::now());
            if self.happened == FEWEST_UNDER_LOAD {
                // The job works at least until then.
                fs::write(self.work.join("disturbed"), []).context("telling the guest")?;
            }
        }
        Ok(())
    }

    /// An error if the job ended before the server was disturbed: it proved nothing.
    pub fn must_have_happened(&self) -> Result<()> {
        let fewest = match self.disturbance {
            None => 0,
            Some(Disturbance { when: When::Every(_), .. }) => FEWEST_UNDER_LOAD,
            Some(_) => 1,
        };
        ensure!(self.happened >= fewest, "the server was disturbed {} times, not {fewest}", self.happened);
        Ok(())
    }

    fn is_time(&mut self, when: When) -> bool {
        match when {
            When::FileGrows { file, percent } => {
                let length = fs::metadata(self.export.join(file)).map_or(0, |metadata| metadata.len());
                self.happened == 0 && length > self.size / 100 * percent
            }
            When::Asked { file } => self.happened == 0 && self.work.join(file).exists(),
            When::Every(period) => self.work.join("under-load").exists() && self.waited(period),
        }
    }

    /// Whether the period has passed since the last time, or since we were first asked.
    fn waited(&mut self, period: Duration) -> bool {
        self.last.get_or_insert_with(Instant::now).elapsed() >= period
    }

    fn act(&self, action: Action, server: &mut Server) -> Result<()> {
        match action {
            Action::Kill => server.kill_and_start().context("killing the server and starting it again"),
            Action::Restart => server.restart().context("restarting the server"),
            Action::Reload => server.reload().context("reloading the server"),
            Action::End => server.end().context("ending the server"),
            Action::Remove(file) => fs::remove_file(self.export.join(file))
                .with_context(|| format!("removing {file} on the host")),
        }
    }
}
