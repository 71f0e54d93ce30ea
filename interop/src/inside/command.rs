//! Starting programs: those that must succeed at once, and those that run on, each logging to a file.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use howdah_lab::guest::search_path;
use rustix::process::{Pid, Signal, kill_process};

/// Runs a program to its end; its message is the error's cause.
pub fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", search_path())
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {program}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{program} {}: {}", arguments.join(" "), message.trim());
    }
    Ok(())
}

/// A program that runs on. It is killed when this value goes, and when this process dies.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
}

impl Running {
    /// Starts it; `configure` gives it arguments and environment, its output goes to `log`.
    pub fn start(program: &Path, log: &Path, configure: impl FnOnce(&mut Command)) -> Result<Self> {
        let name =
            program.file_name().map_or_else(|| "program".into(), |name| name.to_string_lossy().into_owned());
        let out = File::options()
            .create(true)
            .append(true)
            .open(log)
            .with_context(|| format!("opening {}", log.display()))?;
        let errors = out.try_clone().with_context(|| format!("opening {} again", log.display()))?;
        // The kernel kills it if we die first, whatever the reason.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(program).env("PATH", search_path());
        configure(&mut command);
        let child = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        Ok(Self { name, child })
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("waiting for {}", self.name))
    }

    /// Its process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.child.id()).context("a process id that is no process id")?;
        let process = Pid::from_raw(id).context("process id 0")?;
        kill_process(process, signal).with_context(|| format!("sending {signal:?} to {}", self.name))
    }

    /// Kills it and waits.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill().with_context(|| format!("killing {}", self.name))?;
        self.child.wait().with_context(|| format!("waiting for {}", self.name))?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
