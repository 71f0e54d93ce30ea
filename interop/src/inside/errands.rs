//! What a guest's job has the host do: whatever is slow through the guest's view of the host's files, such as comparing
//! gigabytes. The job leaves a script as `errand` in the work directory, and finds its exit code as `errand.code`.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::job::Job;

/// Does one errand at a time.
pub struct Errands<'a> {
    job: &'a Job,
    running: Option<Child>,
}

impl<'a> Errands<'a> {
    /// Nothing was asked yet.
    pub fn new(job: &'a Job) -> Self {
        Self { job, running: None }
    }

    /// Starts what is asked, and reports how it ended.
    pub fn step(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else { return self.start() };
        let Some(status) = running.try_wait().context("waiting for an errand")? else { return Ok(()) };
        self.running = None;
        let (draft, code) = (self.job.work.join("errand.code.new"), self.job.work.join("errand.code"));
        fs::write(&draft, status.code().unwrap_or(-1).to_string()).context("telling how an errand ended")?;
        fs::rename(&draft, &code).context("telling how an errand ended")
    }

    fn start(&mut self) -> Result<()> {
        let (asked, script) = (self.job.work.join("errand"), self.job.work.join("errand.running"));
        if !asked.exists() {
            return Ok(());
        }
        fs::rename(&asked, &script).context("taking an errand")?;
        let log = File::options().create(true).append(true).open(self.job.log("errands.txt"));
        let log = log.context("opening the errands' log")?;
        let errors = log.try_clone().context("opening the errands' log again")?;
        // Like all that is started here, it dies with this process.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--", "/bin/sh", "-eu"])
            .arg(&script)
            .current_dir(&self.job.work);
        let started = command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn();
        self.running = Some(started.context("starting an errand")?);
        Ok(())
    }
}
